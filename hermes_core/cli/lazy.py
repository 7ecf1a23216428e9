"""A click group whose commands are imported when they are used; plugins' commands come from their manifests."""

from importlib import import_module

import click

from hermes_core.cli.scope import Scope

# name -> (module under hermes_core.cli, attribute, summary)
COMMANDS: dict[str, tuple[str, str, str]] = {
    "chat": ("chat", "chat", "Talk, or answer one message (-q)."),
    "sessions": ("sessions", "sessions", "List, show, search, export, rename, delete, prune."),
    "config": ("config", "config", "Show, read, change and check settings."),
    "model": ("model", "model", "List models, choose one, show the chosen."),
    "plugins": ("plugins", "plugins", "Install, enable, check and write plugins."),
    "tools": ("tools", "tools", "List tools, switch them, see what they did."),
    "profile": ("profile", "profile", "Separate settings, keys, memory and sessions."),
    "doctor": ("doctor", "doctor", "Check everything and say how to mend it."),
    "prompt-size": ("insights", "prompt_size", "Where the tokens of an empty session go."),
    "logs": ("logs", "logs", "Show what was logged."),
    "insights": ("insights", "insights", "Tokens, cost and turns over time."),
    "completion": ("completion", "completion", "Shell completion for bash, zsh and fish."),
}


class LazyGroup(click.Group):
    """Knows its commands by name; imports one when it runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS, *sorted({words.split()[0] for words in _scope(ctx).plugin_commands()} - set(COMMANDS))]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS:
            module, attribute, _ = COMMANDS[cmd_name]
            command: click.Command = getattr(import_module(f"hermes_core.cli.{module}"), attribute)
            return command
        return _scope(ctx).plugin_command(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, summary) for name, (_, _, summary) in COMMANDS.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
        if theirs := _scope(ctx).plugin_commands():
            with formatter.section("Commands of plugins"):
                formatter.write_dl(sorted((words, label) for words, label in theirs.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and self.get_command(ctx, args[0]) is None:
            from hermes_core.errors import UnknownName

            raise UnknownName("command", args[0], self.list_commands(ctx), hint="`hermes --help` lists all commands.")
        return super().resolve_command(ctx, args)


def _scope(ctx: click.Context) -> Scope:
    return ctx.find_object(Scope) or Scope(None)
