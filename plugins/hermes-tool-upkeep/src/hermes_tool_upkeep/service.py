"""The store is looked after while a gateway runs, and ``hermes doctor`` says how it is."""

import asyncio
import os
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.kinds import Service
from hermes_core.types import Check, Finding
from hermes_tool_upkeep.look import Looked, look, opened

__all__ = ["Upkeep", "checks", "mended"]

_GLANCE = 20.0  # seconds between two looks at whether the file is still the one that was opened
_BREATH = 1.0  # seconds between two looks at the store's log
_LONG = (
    4_000_000  # bytes of the log from which it is written into the store, a quarter of what a commit would let it be
)
_ROUND = 3600.0  # seconds between two rounds
_BUDGET = 2.0  # seconds that a quick look may take
_OWNED = re.compile(r"([a-z]+)_([a-z0-9]+(?:_[a-z0-9]+)*)__version")
_ROOM = 0.2  # share of the store that is free, from which it is compacted


class Upkeep(Service):
    """Looks at the store when it starts, mends what is derived, and tidies up once an hour while nothing runs.

    The file is this machine's, so it runs once on each.
    """

    name = "upkeep"
    local = True

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx, self._wrong, self._did = ctx, "", ""
        self._path = ctx.paths.home / "state.db"
        self._opened = _number(self._path)
        self._erased = False  # and not compacted since

    async def run(self) -> None:
        """Look and tidy, until cancelled."""
        file = not self._ctx.store.address()
        if file:
            await asyncio.to_thread(self._begin)
        async with asyncio.TaskGroup() as both:
            if file:
                both.create_task(self._carry())
            await self._look_after(file=file)

    async def _carry(self) -> None:
        """Write the log into the store beside those who write. Else one of their commits does, and all wait for it."""
        from hermes_tool_upkeep.compact import carry_log

        log, seen = self._path.with_name(f"{self._path.name}-wal"), 0
        while True:
            await asyncio.sleep(_BREATH)
            with suppress(OSError, HermesError):  # what is wrong with the store is told by those who look at it
                status = log.stat()
                if status.st_size > _LONG and status.st_mtime_ns != seen:
                    seen = status.st_mtime_ns
                    await asyncio.to_thread(carry_log, self._path)

    async def _look_after(self, *, file: bool) -> None:
        due = 0.0
        while True:
            if file and self._opened and _number(self._path) != self._opened:
                self._wrong = f"{self._path} was deleted or replaced while it is open: stop Hermes, then look at it"
            elif time.monotonic() >= due or await self._forgotten():
                due = time.monotonic() + _ROUND
                await self._tidy(file=file)
            self._opened = self._opened or _number(self._path)
            await asyncio.sleep(_GLANCE)

    async def _forgotten(self) -> bool:
        """Whether somebody was erased just now who asked for it; then the store is tidied at once."""
        from hermes_tool_upkeep.export import drop_exports
        from hermes_tool_upkeep.forget import erase_due

        now = time.time()
        try:
            await asyncio.to_thread(drop_exports, self._ctx.paths.data / "exports", now)
            self._erased = self._erased or bool(await erase_due(self._ctx, now))
        except HermesError as error:
            self._ctx.log.warning("somebody who asked to be forgotten was not: %s", error.text)
        return self._erased

    def health(self) -> str:
        """What is wrong with the store."""
        return self._wrong

    async def status(self) -> str:
        """What was done last."""
        return self._did

    def _begin(self) -> None:
        try:
            found = look(self._path, seconds=_BUDGET, deep=False)
            if found.level == "derived" and self._ctx.config.mend:
                self._did = mended(self._path)
                self._ctx.log.warning("%s: %s; %s", self._path, "; ".join(found.lines[:3]), self._did)
            elif found.level in ("damaged", "derived", "foreign"):
                self._wrong = f"the store: {found.lines[0]}"
        except HermesError as error:
            self._wrong = error.text

    async def _tidy(self, *, file: bool) -> None:
        from hermes_tool_upkeep.compact import compact, idle, room, shorten_log
        from hermes_tool_upkeep.erase import erase_again
        from hermes_tool_upkeep.retain import drop_outputs, retire

        ctx, did = self._ctx, []
        try:
            there = not file or self._path.exists()
            if erased := await erase_again(ctx) if there else 0:
                did.append(f"{erased} that were erased came back with a copy, and went again")
            if gone := await retire(ctx) if there else 0:
                did.append(f"{gone} old sessions deleted")
            if dropped := await asyncio.to_thread(drop_outputs, ctx.paths.home, ctx.config.outputs_days):
                did.append(f"{dropped} old outputs deleted")
            if file and there:
                await asyncio.to_thread(shorten_log, self._path, 0)  # it holds what was forgotten meanwhile
                free = await asyncio.to_thread(room, self._path)
                wanted = ctx.config.compact and (erased or gone or free > _ROOM)
                if (wanted or self._erased) and await asyncio.to_thread(idle, self._path):
                    self._erased = False
                    did.append(f"{await asyncio.to_thread(compact, self._path) / 1e6:.1f} MB given back")
        except HermesError as error:
            ctx.log.warning("%s", error.text)
        self._did = "; ".join(did) or self._did


def mended(path: Path) -> str:
    """Make anew what is made from the rows, and say so. Raises UserError when more than that is damaged."""
    from hermes_tool_upkeep.index import mend, missing, search_again

    with opened(path, writes=True) as connection:
        count = search_again(connection)
        mend(connection)
        assert not missing(connection)
    return f"the indexes are made anew, {count} messages in the one for searches"


def checks(ctx: PluginContext) -> Sequence[Check]:
    """A quick look with every ``doctor``, and the whole with ``--store`` and ``--deep``."""

    async def quick() -> Sequence[Finding]:
        return await asyncio.to_thread(_findings, ctx, deep=False)

    async def full() -> Sequence[Finding]:
        return await asyncio.to_thread(_findings, ctx, deep=True)

    def mend() -> str:
        return _put_right(ctx)

    return [Check(name="store", run=quick, full=full, cheap=True, mend=mend), Check(name="pages", run=full)]


def _put_right(ctx: PluginContext) -> str:
    """Make anew what is made from the rows, where nothing else is damaged and the settings allow it; what was done."""
    path = ctx.paths.home / "state.db"
    if not ctx.config.mend:
        return ""
    found = look(path)
    if found.level != "derived":
        ctx.log.error("%s is damaged: %s", path, "; ".join(found.lines[:3]))
        return ""
    try:
        said = mended(path)
    except HermesError as error:  # the pages of an index cannot be used again where they are
        ctx.log.error("%s", error.text)
        return ""
    ctx.log.warning("%s: %s; %s", path, "; ".join(found.lines[:3]), said)
    return f"The store was damaged, but no row of it: {said}."


def _findings(ctx: PluginContext, *, deep: bool) -> Sequence[Finding]:
    path = ctx.paths.home / "state.db"
    try:
        if ctx.store.address():
            return [Finding(level="ok", text="on a server, which looks after its pages itself")] if deep else []
        found = look(path, seconds=0.0 if deep else _BUDGET, deep=deep)
    except HermesError as error:
        return [Finding(level="fault", text=error.text, fix=error.hint)]
    return [*_finding(found, deep=deep), *_lost(ctx, path), *_strangers(ctx, path), *_aside(path)]


def _finding(found: Looked, *, deep: bool) -> Sequence[Finding]:
    if found.level in ("gone", "foreign"):  # which the kernel says, as it cannot open it
        return []
    if found.level == "ok":
        text = "every page and index was read" if deep else "a quick look found nothing"
        return [Finding(level="ok", text=text if found.whole else "there was no time for all of it: doctor --store")]
    fix = "hermes store reindex" if found.level == "derived" else "hermes store repair"
    more = f", and {len(found.lines) - 1} more" if len(found.lines) > 1 else ""
    return [Finding(level="fault", text=f"{found.lines[0]}{more}", fix=fix)]


def _lost(ctx: PluginContext, path: Path) -> Sequence[Finding]:
    """Say that transcripts are there whose sessions are not: the store was emptied, deleted or replaced."""
    from hermes_tool_upkeep.rebuild import only_transcripts

    lost = only_transcripts(ctx.paths.home, path)
    text = f"{len(lost)} sessions have a transcript and are not in the store"
    return [Finding(level="warning", text=text, fix="hermes store rebuild")] if lost else []


def _strangers(ctx: PluginContext, path: Path) -> Sequence[Finding]:
    """Say which plugins have tables here and are not installed."""
    try:
        with opened(path) as connection:
            names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    except HermesError:  # which is told by now
        return []
    owners = {f"{m[1]}/{m[2].replace('_', '-')}" for m in map(_OWNED.fullmatch, names) if m}
    return [
        Finding(level="ok", text=f"the tables of {label}, which is not installed, are kept")
        for label in sorted(owners - {row.label for row in ctx.plugins.list()})
    ]


def _aside(path: Path) -> Sequence[Finding]:
    """Say how much room older stores take that were put aside; nobody but a person deletes them."""
    from hermes_tool_upkeep.erase import older_stores

    found = older_stores(path)
    size = sum(one.stat().st_size for one in found)
    text = f"older stores lie beside it: {', '.join(one.name for one in found)} ({size / 1e6:.1f} MB)"
    return [Finding(level="ok", text=text)] if found else []


def _number(path: Path) -> int:
    """Return what tells the file from another that takes its name; 0 where there is none."""
    try:
        return os.stat(path).st_ino  # noqa: PTH116 - as cheap as can be
    except OSError:
        return 0
