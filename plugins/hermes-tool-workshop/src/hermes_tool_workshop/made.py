"""Tools that were written here, as tools of the kernel; and what happens when one of them crashes."""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from attrs import evolve

from hermes_core.errors import HermesError, ToolError
from hermes_core.kinds import Tool, ToolContext
from hermes_core.types import JSON, Effect, Session, Text
from hermes_core.values import frozen
from hermes_tool_workshop.calls import Interpreters, Outcome, Work, call
from hermes_tool_workshop.config import Config
from hermes_tool_workshop.draft import read_code
from hermes_tool_workshop.health import Record
from hermes_tool_workshop.life import called
from hermes_tool_workshop.permissions import Permissions
from hermes_tool_workshop.shape import Shape
from hermes_tool_workshop.store import Damaged, Ledger, ToolStore, Version
from hermes_tool_workshop.walls import Walls, own_wall, python_of
from hermes_tool_workshop.words import aside, told

_LATER = 30.0  # seconds the kernel waits longer than the place does
_LONGEST = 3600.0  # seconds with the calls of other tools, of which one may wait for a person
_CALLS = 50  # of other tools; after each the code is run again


@frozen(kw_only=True)
class Kept:
    """A tool in force, as it was when its ``stamp`` was taken; ``tool`` is None when it cannot be read."""

    stamp: tuple[int, ...]
    tool: Tool | None


class Workshop:
    """What the hooks of one kernel share: where tools are kept, how they are run."""

    def __init__(self, data: Path, home: Path, config: Config, log: logging.Logger) -> None:
        self.data, self.home, self.config, self.log = data, home, config, log
        self._interpreters = Interpreters()
        self._walls = Walls(home, config.memory_mb)
        self._known: dict[Path, Kept] = {}

    def store(self, session: Session) -> ToolStore:
        """The tools of a session's owner."""
        return ToolStore(self.data, session.owner)

    def tools(self, session: Session) -> list[Tool]:
        """The tools of a session's owner that are there now. Quick: what did not change is not read again."""
        store = self.store(session)
        found = (self._tool(store, name) for name in store.names())
        return [tool for tool in found if tool is not None]

    def _tool(self, store: ToolStore, name: str) -> Tool | None:
        place, stamp = store.folder / name, store.stamp(name)
        known = self._known.get(place)
        if known is None or known.stamp != stamp:
            known = Kept(stamp=stamp, tool=self._read(store, name))
            self._known[place] = known
        return known.tool

    def _read(self, store: ToolStore, name: str) -> Tool | None:
        try:
            ledger = store.ledger(name)
            version = store.version(name, ledger.version)
        except (Damaged, HermesError) as error:
            self.log.warning("a tool cannot be read: %s", error)
            return None
        shape, problems = read_code(version.code, version.label.permissions)
        if shape is None or (problems and version.intact):
            self.log.warning("a tool cannot be understood: %s: %s", name, "; ".join(problems)[:500])
            return None
        return self._made(store, ledger, version, shape)

    def _made(self, store: ToolStore, ledger: Ledger, version: Version, shape: Shape) -> Tool:
        label, why = version.label, ledger.why or "a person switched it off"

        async def run(context: ToolContext, given: Mapping[str, JSON]) -> str:
            return await self._run(context, store, ledger, shape.filled(given))

        keys = tuple(touched(label.permissions))
        return Tool(
            name=ledger.name,
            description=shape.description,
            schema=shape.schema(),
            run=run,
            toolset="workshop",
            effects=effects(label.permissions),
            touches=None if label.permissions.calls else lambda _: keys,
            untrusted=bool(label.permissions.hosts or label.permissions.programs),
            needs=lambda _: None if ledger.state == "on" else why,
            seconds=_LONGEST if label.permissions.calls else label.seconds + _LATER,
        )

    async def _run(self, context: ToolContext, store: ToolStore, seen: Ledger, arguments: dict[str, JSON]) -> str:
        ledger, version = await asyncio.to_thread(store.approved, seen.name)
        if ledger.state != "on":
            why = ledger.why or "a person switched it off"
            raise ToolError(
                f"{seen.name} was not run: {why}.", retry=False, hint="Do without it, or write a new version."
            )
        if ledger.version != seen.version:
            raise ToolError(
                f"{seen.name} was not run: version {ledger.version} came into force just now.", hint="Call it again."
            )
        work = work_of(seen.name, version)
        outcome = await self.play(context, work, arguments)
        await asyncio.to_thread(called, store.folder / seen.name)
        record = Record(store.folder / seen.name)
        if outcome.crash:
            text = await asyncio.to_thread(self._crashed, store, record, ledger, outcome)
            context.progress(f"{text}\n")
            raise ToolError(text, hint="\n".join(aside(outcome)))
        await asyncio.to_thread(record.worked, version.number)
        if outcome.error:
            raise ToolError(outcome.error, hint="\n".join(aside(outcome)))
        return told(outcome)

    async def play(self, context: ToolContext, work: Work, arguments: dict[str, JSON]) -> Outcome:
        """Run code in the workspace of a call, again after each call of a tool that it makes.

        Raises ToolError when the place has no Python or fails.
        """
        workspace, work = context.workspace, evolve(work, seconds=min(work.seconds, self.config.seconds))
        walls = self._walls if own_wall(workspace, work.permissions) else None
        python = python_of(work.permissions) if walls else await self._interpreters.of(workspace)
        known: list[dict[str, JSON]] = []
        while True:
            outcome = await call(workspace, python, work, arguments, self.config, known, walls)
            if outcome.wants is None:
                return outcome
            name, given = outcome.wants
            if name not in work.permissions.calls:
                return evolve(outcome, wants=None, crash=f"it called {name[:80]}, and does not declare that")
            if len(known) == _CALLS:
                return evolve(outcome, wants=None, crash=f"it made more than {_CALLS} calls of tools")
            result = await context.call(name, given)
            text = "".join(part.text for part in result.parts if isinstance(part, Text))
            known.append({"call": [name, dict(given)], "text": text, "failed": result.failed})

    def _crashed(self, store: ToolStore, record: Record, ledger: Ledger, outcome: Outcome) -> str:
        """Count a crash; at the last one the tool is set aside, or goes back to what worked. What to say of it."""
        name, number = ledger.name, ledger.version
        health, most = record.crashed(number), self.config.failures
        text = f"{name} (version {number}) crashed: {outcome.crash}."
        if health.row < most:
            return f"{text} That is {health.row} in a row; after {most} it is set aside."
        self.log.warning("tool set aside", extra={"fields": {"tool": name, "version": number, "crash": outcome.crash}})
        for earlier in sorted((n for n in health.worked if n < number and n in ledger.digests), reverse=True):
            try:
                store.switch(name, earlier, why=f"version {number} crashed {health.row} times in a row")
            except (Damaged, HermesError):
                continue
            return f"{text} That is {health.row} in a row: version {earlier}, which worked, is in force again."
        why = f"it was set aside, since version {number} crashed {health.row} times in a row"
        store.change(name, lambda now: evolve(now, state="aside", why=why) if now.version == number else now)
        return (
            f"{text} That is {health.row} in a row: it is set aside until it is written anew, or a person enables it."
        )


def work_of(name: str, version: Version) -> Work:
    """What is run for a version. Raises ToolError when its code is none any more."""
    label = version.label
    shape, problems = read_code(version.code, label.permissions)
    if shape is None:
        raise ToolError(f"{name} was not run: {'; '.join(problems)[:500]}.", retry=False)
    return Work(name=name, entry=shape.entry, code=version.code, permissions=label.permissions, seconds=label.seconds)


def effects(permissions: Permissions) -> frozenset[Effect]:
    """What a call may do to the world: what its code, which was approved as it is, declares and is held to.

    Only with programs is what it is given perhaps a command, which the policy reads as one. Without, it is a program
    that at most looks into the working folder: it may run there, which is what READ_FILES says.
    """
    found = {Effect.EXECUTE if permissions.programs else Effect.READ_FILES}
    if permissions.hosts:
        found.add(Effect.NETWORK)
    if permissions.reads or permissions.writes:
        found.add(Effect.READ_FILES)
    if permissions.writes:
        found.add(Effect.WRITE_FILES)
    return frozenset(found)


def touched(permissions: Permissions) -> Iterable[str]:
    """The resource keys of every call."""
    paths: Sequence[str] = (*permissions.reads, *permissions.writes)
    yield from (f"host:{host}" for host in permissions.hosts)
    yield from (f"program:{program}" for program in permissions.programs)
    yield from sorted({f"file:{path}" for path in paths})
