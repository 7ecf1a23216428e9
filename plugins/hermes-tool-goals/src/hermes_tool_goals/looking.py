"""Looks at the truth: runs the commands of a contract, and sees what was done and which files there are."""

import asyncio
import contextlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, StoreError, UserError
from hermes_core.types import Effect, PastTurn, Principal, TurnBounds, TurnOrder
from hermes_tool_goals.playing import CHECK, command_of, order_of, status_of, unfenced
from hermes_tool_goals.shared import config_of
from hermes_tool_goals.values import Check, Evidence, Goal, check_event, digest, round_event

__all__ = ["acts_of", "files_of", "found", "is_outside", "owner_of", "take_back"]

_LOOK, _GRACE = 0.5, 60.0  # seconds between looks at a turn that somebody else plays; for one that does not begin
_CLOSED = ("done", "failed", "interrupted")
_OUTPUT = 6_000  # characters of output that are kept: its last
_FILES = 20_000  # entries of a folder that are looked at
_SKIPPED = frozenset({".git", ".hg", ".venv", "node_modules", "__pycache__", ".mypy_cache", ".pytest_cache", ".cache"})


def owner_of(goal: Goal) -> Principal:
    """Return whose goal it is."""
    return Principal(profile=goal.profile, person=goal.person)


async def take_back(ctx: PluginContext, goal: Goal) -> None:
    """Take a turn of a goal back that waits and was not begun: it is ordered again where the goal goes on."""
    event, owner = round_event(goal.id, goal.round), owner_of(goal)
    with contextlib.suppress(HermesError):  # it runs by now, or its session is gone
        past = await ctx.turns.past(event, owner=owner)
        if past is not None and past.state == "waiting":
            await ctx.turns.forget(event, owner=owner)


async def found(ctx: PluginContext, goal: Goal, number: int, check: Check) -> Evidence:
    """Run one check in a turn of its own, once for each round, and say what it found."""
    known = {"goal": goal.id, "round": goal.round, "number": number, "kind": check.kind, "what": check.what}
    try:
        past = await _played(ctx, goal, number, check)
    except StoreError:
        raise
    except HermesError as error:  # a check that cannot be run is one that failed
        return Evidence(**known, passed=False, status="it could not run", output=ctx.masks.text(error.text))  # type: ignore[arg-type]
    outside = await is_outside(ctx, owner_of(goal), past.session_id)
    more = {"session": past.session_id, "outside": outside, "seconds": max(0.0, past.ended - past.started)}
    if past.state != "done":
        why = past.error or "it was stopped"
        return Evidence(**known, **more, passed=False, status="it could not run", output=why[-_OUTPUT:])  # type: ignore[arg-type]
    printed = await _printed(ctx, goal, past, command_of(check))
    if printed is None:  # somebody else answered, whatever they say
        return Evidence(**known, **more, passed=False, status="it could not run", output="nobody ran the command")  # type: ignore[arg-type]
    passed, status, output = status_of(printed)
    return Evidence(**known, **more, passed=passed, status=status, output=output[-_OUTPUT:])  # type: ignore[arg-type]


async def _printed(ctx: PluginContext, goal: Goal, past: PastTurn, command: str) -> str | None:
    """Return what a command printed, as it stands in the history of its turn; None where it did not run there."""
    rows = await ctx.sessions.tool_history(owner_of(goal), past.session_id, limit=20)
    ran = [one for one in rows if one.turn_id == past.turn_id and one.name == "terminal"]
    if len(ran) != 1 or ran[0].outcome != "ok" or ran[0].arguments.get("command") != command:
        return None
    return unfenced(ran[0].output)


async def _played(ctx: PluginContext, goal: Goal, number: int, check: Check) -> PastTurn:
    """Order the turn of a check, once, and follow it to its end, whoever plays it. Raises HermesError."""
    turns, owner, event = ctx.turns, owner_of(goal), check_event(goal.id, goal.round, number, check.what)
    seconds = config_of(ctx).check_seconds
    if await turns.past(event, owner=owner) is None:
        command = command_of(check)
        await turns.queue(order_of(command, seconds), owner=owner, order=_order(goal, event, command))
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds + _GRACE
    while True:
        past = await turns.past(event, owner=owner)
        if past is None:
            raise UserError("its turn was taken away")
        if past.state in _CLOSED:
            return past
        played = False
        async with contextlib.aclosing(turns.resume(past.session_id, owner=owner)) as events:
            async for _ in events:
                played = True
        if not played:
            if loop.time() > end and not await turns.busy(past.session_id, owner=owner):
                await turns.drop(past.session_id, owner=owner)
                raise UserError("its turn does not begin")
            await asyncio.sleep(_LOOK)


def _order(goal: Goal, event: str, command: str) -> TurnOrder:
    """Return how a check runs: in the folder of the goal, in a session that the model has no hand in."""
    letters = "".join(f"[{one}]" if one in "*?[" else one for one in command)
    return TurnOrder(
        event=event,
        model=CHECK,
        folder=goal.folder,
        hidden=True,
        bounds=TurnBounds(
            tools=["terminal/terminal"],
            never=(Effect.SCHEDULE, Effect.CONFIGURE, Effect.REMEMBER, Effect.SEND),
            mode="ask",
            grants=(f"terminal({letters})",),
            levels=0,
        ),
    )


async def is_outside(ctx: PluginContext, owner: Principal, session: str) -> bool:
    """Tell whether what is said in a session comes from outside in part. What cannot be looked at does."""
    try:
        return any(one.untrusted for one in await ctx.sessions.past(owner, session))
    except UserError:
        return True


async def acts_of(ctx: PluginContext, goal: Goal, turn: str) -> tuple[Sequence[str], str]:
    """Return what a turn did, a line for each call, and a name for all of it that is equal for the same acts."""
    with contextlib.suppress(UserError):
        rows = await ctx.sessions.tool_history(owner_of(goal), goal.session, limit=200)
        mine = [one for one in reversed(rows) if one.turn_id == turn]
        called = [f"{one.name} {json.dumps(one.arguments, ensure_ascii=False, sort_keys=True)}" for one in mine]
        lines = [f"{text[:240]} → {one.outcome}" for text, one in zip(called, mine, strict=True)]
        return lines, digest("\n".join(called))
    return (), ""


async def files_of(ctx: PluginContext, goal: Goal) -> str:
    """Return a name for how the folder looks, equal while no file changes; empty where nobody can tell from here."""
    if not goal.folder or owner_of(goal) != ctx.owner:
        return ""
    return await asyncio.to_thread(_folder, goal.folder)


def _folder(folder: str) -> str:
    if not Path(folder).is_dir() or Path(folder) in (Path("/"), Path.home()):
        return ""
    rows: list[str] = []
    for base, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if one not in _SKIPPED)
        for name in sorted(names):
            with contextlib.suppress(OSError):
                seen = os.stat(os.path.join(base, name), follow_symlinks=False)  # noqa: PTH116, PTH118 - many
                rows.append(f"{base}/{name} {seen.st_size} {seen.st_mtime_ns}")
        if len(rows) > _FILES:
            break
    return digest("\n".join(rows) or "empty")
