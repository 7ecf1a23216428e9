"""``hermes config show`` and ``env-path``: the settings that are in force, and where secrets are."""

import json

import click

from hermes_core.context import PluginContext
from hermes_core.tables import emit, json_option

__all__ = ["make_env_path", "make_show"]


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
