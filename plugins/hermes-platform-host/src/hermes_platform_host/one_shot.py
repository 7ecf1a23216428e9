"""``hermes -z`` of a terminal elsewhere: its words, its exit status, its way to be ended."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, PluginError, UserError
from hermes_core.notices import heard_by
from hermes_core.types import Event, Noticed, Session
from hermes_platform_host.rooms import Room, Rooms
from hermes_platform_host.screens import Screen
from hermes_platform_kit.one_turn import OneTurn, said

__all__ = ["folder_for", "one_shot"]

_INTERRUPTED = 130


class _Ending:
    """How a terminal wants its turn to end before its time: interrupt it, or leave it to this host."""

    how = ""


async def one_shot(
    ctx: PluginContext, rooms: Rooms, screen: Screen, frames: AsyncIterator[Mapping[str, Any]], cwd: str
) -> None:
    """Answer one message of a terminal. It ends nothing by going away."""
    told = await anext(frames, None)
    if told is None or not isinstance(text := told.get("say"), str):
        return
    ending, before = _Ending(), set(ctx.turns.notices())
    printing = asyncio.create_task(_print(ctx, rooms, screen, told, text, cwd, ending))
    hearing = asyncio.create_task(_hear(frames, printing, ending))
    try:
        status = await printing
    except asyncio.CancelledError:
        if not ending.how:
            raise  # this host ends
        status = _INTERRUPTED
    finally:
        hearing.cancel()
    if status is None:
        return
    for line in ctx.turns.notices():
        if line not in before:
            screen.answers.tell(line)
    screen.send(x=status)


async def _hear(
    frames: AsyncIterator[Mapping[str, Any]], printing: "asyncio.Task[int | None]", ending: _Ending
) -> None:
    async for told in frames:
        ending.how = next((how for how in ("interrupt", "leave") if how in told), "")
        if ending.how:
            printing.cancel()
            return
    # It went away without a word: what it asked for goes on, and is written to nobody.


async def _print(
    ctx: PluginContext,
    rooms: Rooms,
    screen: Screen,
    told: Mapping[str, Any],
    text: str,
    cwd: str,
    ending: _Ending,
) -> int | None:
    """Print the turn; the exit status, None where it was not begun."""
    try:
        named, session, heard = await _place(ctx, told, cwd)
        room = rooms.room(session.id)
    except HermesError:
        screen.send(no="failed")  # whoever does it alone says what is wrong
        return None
    room.passing = room.passing or session.origin == "oneshot"
    if named and not room.playing and await ctx.turns.busy(session.id):
        screen.send(no="busy")  # as of any other process
        return None
    if named:
        room.tighten(joined=True)  # what a screen there chose for itself, this terminal did not
    try:
        screen.send(s=session.id)
        turn = OneTurn(
            ctx,
            screen.answers,
            as_json=told.get("json") is True,
            left=lambda: ending.how == "leave",
        )
        return await turn.print(named, lambda _: _turn(ctx, room, text, named, heard), lambda _: _left(ctx, room))
    except HermesError as error:
        screen.answers.tell(ctx.masks.text(str(error)))
        return 2 if isinstance(error, UserError) else 3 if isinstance(error, PluginError) else 1
    except asyncio.CancelledError:
        if ending.how == "interrupt":
            await room.stop()
            screen.answers.tell("\nInterrupted.")
        raise


async def _place(ctx: PluginContext, told: Mapping[str, Any], cwd: str) -> tuple[str, Session, Sequence[str]]:
    """The id of a session that was named, the one it is, and what plugins say as it begins. Raises HermesError."""
    words, heard = str(told.get("session") or "") or ("latest" if told.get("latest") is True else ""), list[str]()
    if words:
        named = await ctx.sessions.find(ctx.owner, words)
        return named.id, named, heard
    with heard_by(heard.append):
        return "", await ctx.turns.take_up(origin="oneshot", folder=folder_for(ctx, cwd)), heard


def _left(ctx: PluginContext, room: Room) -> AsyncGenerator[Event, None]:
    """What a terminal left to this host, or a death cut off."""
    return room.rest_of() if room.playing else room.shown(ctx.turns.resume(room.session))


async def _turn(
    ctx: PluginContext, room: Room, text: str, named: str, heard: Sequence[str]
) -> AsyncGenerator[Event, None]:
    envelope, _ = said(ctx, text, named)
    _, order = said(ctx, text, room.session)
    for line in heard:
        yield Noticed(text=line)
    async with contextlib.aclosing(room.shown(ctx.turns.run(envelope, order=order))) as events:
        async for event in events:
            yield event


def folder_for(ctx: PluginContext, cwd: str) -> str:
    """Where a new session works: where its caller is, unless settings say where."""
    return "" if ctx.host.section("terminal").cwd else cwd
