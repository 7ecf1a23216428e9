"""Copies that are made while a gateway runs, and what ``hermes doctor`` says of copies."""

import asyncio
import calendar
import time
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.kinds import Service
from hermes_core.types import Check, Finding
from hermes_tool_backup.archive import AUTO, Copy, copies
from hermes_tool_backup.commands import folder_of

__all__ = ["Copying", "last_copy"]

_LOOK = 600.0  # seconds between two looks at whether one is due
_HOUR = 3600
_LATE = 3  # intervals without a copy from which doctor says so
_MB = 1_000_000


class Copying(Service):
    """Makes a copy whenever the newest is older than ``backup.every`` hours, and drops the oldest ones of its own.

    The home is this machine's, so it runs once on each. A copy that a death cuts off is made again.
    """

    name = "backup"
    local = True

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx
        self._wrong = ""

    async def run(self) -> None:
        """Look whether a copy is due, and make it, until cancelled."""
        while self._ctx.config.every:
            await asyncio.to_thread(self._look)
            await asyncio.sleep(_LOOK)

    def health(self) -> str:
        """Why the last copy came to nothing."""
        return self._wrong

    async def status(self) -> str:
        """When the last copy was made, by whomever."""
        return _told(await asyncio.to_thread(copies, folder_of(self._ctx)))

    def _look(self) -> None:
        from hermes_tool_backup.create import create, drop_old

        folder, config = folder_of(self._ctx), self._ctx.config
        if any(_age(copy) < config.every * _HOUR for copy in copies(folder)):
            return
        try:
            made = create(self._ctx.paths.home, folder, label=AUTO, hides=self._ctx.masks.text)
            drop_old(folder, config.keep)
        except HermesError as error:
            self._wrong = error.text
        else:
            damaged = ", ".join(made.manifest.damaged)
            self._wrong = f"{damaged} is damaged: hermes backup verify" if damaged else ""


def last_copy(ctx: PluginContext) -> Check:
    """What ``hermes doctor`` is told of copies: the newest one, and a restore that was cut off."""

    async def run() -> list[Finding]:
        return await asyncio.to_thread(_findings, ctx.paths.home, folder_of(ctx), ctx.config.every)

    return Check(name="backup", run=run)


def _findings(home: Path, folder: Path, every: int) -> list[Finding]:
    from hermes_tool_backup.restore import unfinished

    if unfinished(home):
        return [Finding(level="fault", text="a restore was cut off half-way", fix="hermes backup restore")]
    found = copies(folder)
    automatic = [copy for copy in found if copy.label == AUTO]
    if every and automatic and _age(found[0]) > _LATE * every * _HOUR:
        return [Finding(level="warning", text=f"copies of the home: {_told(found)}", fix="hermes backup create")]
    return [Finding(level="ok", text=f"copies of the home: {_told(found)}")]


def _age(copy: Copy) -> float:
    """Seconds since a copy was made."""
    return time.time() - calendar.timegm(time.strptime(copy.when, "%Y%m%d-%H%M%S"))


def _told(found: list[Copy]) -> str:
    if not found:
        return "none yet"
    hours = max(0, int(_age(found[0]) / _HOUR))
    bytes_ = sum(copy.size for copy in found)
    return f"{len(found)}, {bytes_ / _MB:.1f} MB; the newest of {hours} h ago"
