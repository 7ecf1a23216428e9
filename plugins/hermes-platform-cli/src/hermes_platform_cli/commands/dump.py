"""``hermes dump``: what somebody who helps needs to know of this Hermes, and no secret."""

import json
import os
import platform
import sys
from collections import deque

import click

from hermes_core import __version__
from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_platform_cli.commands.status import status_of

__all__ = ["make_dump"]

_PREFIX = "HERMES_"


def make_dump(ctx: PluginContext) -> click.Command:
    """``dump``."""

    @click.command()
    @click.option("-n", "--lines", default=100, type=click.IntRange(min=0), show_default=True, help="Of the log.")
    async def command(lines: int) -> None:
        """Print one JSON object: versions, what is installed, the settings you changed, and the end of the log.

        Secrets are masked, and names of people where they are known. Of settings that are lists or sections only the
        number of entries is in it, and no conversation. It names folders: read it before you send it.

        \b
        Example:
          hermes dump > report.json
        """
        found = {
            "hermes": __version__,
            "python": sys.version.split()[0],
            "system": platform.platform(),
            "program": ctx.program,
            "variables": sorted(name for name in os.environ if name.startswith(_PREFIX)),
            "status": await _status(ctx),
            "plugins": [
                {
                    "plugin": one.label,
                    "version": one.version,
                    "enabled": one.enabled,
                    "from": one.distribution or "a file",
                    "faults": [f"{fault.phase}: {fault.error}" for fault in one.faults],
                }
                for one in ctx.plugins.list()
            ],
            "settings": await _settings(ctx),
            "log": _log(ctx, lines),
        }
        masked = ctx.masks.stream(people=True)
        click.echo(masked.feed(json.dumps(found, indent=1, ensure_ascii=False, default=str)) + masked.close())

    return command


async def _status(ctx: PluginContext) -> dict[str, object]:
    try:
        return await status_of(ctx)
    except HermesError as error:
        return {"error": error.text}


async def _settings(ctx: PluginContext) -> dict[str, object]:
    """What differs from its default. Secrets and what is in mappings and lists only count: they may name people."""
    shown: dict[str, object] = {}
    for one in await ctx.settings.list():
        if one.value == one.default:
            continue
        if one.secret:
            shown[one.key] = "(set)"
        elif isinstance(one.value, dict | list):
            shown[one.key] = f"({len(one.value)})"
        else:
            shown[one.key] = one.value
    return shown


def _log(ctx: PluginContext, lines: int) -> list[str]:
    """The last lines of the log, in which there is no secret since it was written."""
    try:
        with (ctx.paths.home / "logs" / "hermes.log").open(encoding="utf-8", errors="replace") as file:
            return [line.rstrip("\n") for line in deque(file, maxlen=lines)] if lines else []
    except OSError:
        return []
