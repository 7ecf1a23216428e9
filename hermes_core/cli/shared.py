"""Headings of the kernel's that plugins may add commands below."""

import click

from hermes_core.cli.scope import Scope

__all__ = ["Shared"]


class Shared(click.Group):
    """A heading of the kernel's below which plugins may have commands too; one of them is imported when it is used."""

    def __init__(self, own: click.Group, scope: Scope) -> None:
        offered = {n: c for n, c in own.commands.items() if scope.distribution.offers(f"{own.name} {n}")}
        super().__init__(own.name, offered, help=own.help)
        records = (one for one in scope.plugin_commands() if one.first == own.name and one.words != own.name)
        self._scope = scope
        self._theirs = {one.words.partition(" ")[2]: one for one in records}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.commands:
            return self.commands[cmd_name]
        if not self._scope.distribution.offers(f"{self.name} {cmd_name}"):
            return None
        from hermes_core.cli.plugin_commands import find_command, why_not

        if cmd_name not in self._theirs:
            why_not(self._scope, f"{self.name} {cmd_name}")
            return None
        group = find_command(self._scope, self.name or "")
        return group.get_command(ctx, cmd_name) if isinstance(group, click.Group) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = {name: one.get_short_help_str(formatter.width) for name, one in self.commands.items()}
        with formatter.section("Commands"):
            formatter.write_dl(sorted({**{name: one.summary for name, one in self._theirs.items()}, **rows}.items()))
