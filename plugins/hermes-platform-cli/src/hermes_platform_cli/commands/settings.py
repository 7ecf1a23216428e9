"""``hermes config show``, ``edit`` and the paths: the settings that are in force, their file, and that of secrets."""

import json
import os
import shlex
import subprocess
import sys

import click

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_tables.tables import emit, json_option

__all__ = ["make_edit", "make_env_path", "make_path", "make_show"]


def make_show(ctx: PluginContext) -> click.Command:
    """``config show``."""

    @click.command()
    @click.option("--all", "everything", is_flag=True, help="Defaults too.")
    @json_option
    async def command(everything: bool, as_json: bool) -> None:
        """Print the settings that are in force, those of plugins too. Secrets are hidden."""
        rows = []
        for one in await ctx.settings.list():
            changed = one.value != one.default
            if everything or changed or one.locked:
                value = sorted(one.value) if isinstance(one.value, dict) and one.written else one.value
                shown = json.dumps(value, ensure_ascii=False, default=str)  # only names: below may be keys
                source = one.locked or ("you" if changed else "default")
                rows.append({"setting": one.key, "value": shown, "from": source, "help": one.help})
        empty = "Everything is at its default: --all."
        emit(rows, ("setting", "value", "from", "help"), as_json=as_json, empty=empty)

    return command


def make_env_path(ctx: PluginContext) -> click.Command:
    """``config env-path``."""

    @click.command()
    def command() -> None:
        """Print where the file with the secrets is."""
        click.echo(ctx.paths.home / ".env")

    return command


def make_path(ctx: PluginContext) -> click.Command:
    """``config path``."""

    @click.command()
    def command() -> None:
        """Print where config.yaml is."""
        click.echo(ctx.paths.home / "config.yaml")

    return command


def make_edit(ctx: PluginContext) -> click.Command:
    """``config edit``: there where the file is broken, too, so it has no kernel."""

    @click.command()
    @click.pass_context
    def command(context: click.Context) -> None:
        """Open config.yaml in $VISUAL or $EDITOR, then check it."""
        file = ctx.paths.home / "config.yaml"
        if not sys.stdin.isatty():
            hint = f"{ctx.program} config set KEY VALUE, or edit {file} yourself."
            raise UserError("An editor needs a terminal, and there is none.", hint=hint)
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not file.exists():
            file.write_text("# Settings of Hermes. `hermes config show --all` lists them.\n", encoding="utf-8")
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        try:
            subprocess.run([*shlex.split(editor), str(file)], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            hint = "Set EDITOR to one that is installed."
            raise UserError(f"The editor {editor!r} failed: {error}", hint=hint) from error
        root = context.find_root()
        config = root.command.get_command(root, "config") if isinstance(root.command, click.Group) else None
        check = config.get_command(root, "check") if isinstance(config, click.Group) else None
        if check:
            context.invoke(check)

    return command
