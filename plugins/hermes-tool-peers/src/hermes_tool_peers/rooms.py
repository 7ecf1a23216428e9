"""Rooms: a person and the agents of several profiles, who hear what names them, and answer one after another.

A room is a document. What is said is written there before an agent is asked, and each answer before the next one is;
the question to an agent has a key of its own. So who says a message again under its ``mark`` has it go on where a death
cut it off, and nobody is asked twice. A room has a key of its own, too: one that is made again under the name of
another is not given the answers of that.
"""

import re
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import JSON
from hermes_tool_peers.asking import ask, config_of, me, profiles

__all__ = ["get", "make", "names", "remove", "say"]

_PREFIX = "room "
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,47}")
_MENTION = re.compile(r"(?<![\w@.])@([a-z0-9][a-z0-9_-]{0,63})")
_TEXT, _MARK, _KEPT, _TOLD, _ROOMS, _AGENTS = 4_000, 200, 60, 12, 50, 20


async def names(ctx: PluginContext) -> Sequence[str]:
    """Return the rooms there are."""
    there = await ctx.documents.list(owner=ctx.owner)
    return [one.name.removeprefix(_PREFIX) for one in there if one.name.startswith(_PREFIX)]


async def make(ctx: PluginContext, name: str, agents: Sequence[str]) -> Mapping[str, Any]:
    """Make a room for some agents of other profiles. Raises UserError, UnknownName."""
    if not _NAME.fullmatch(name):
        raise UserError(f"{name[:80]!r} is no name for a room.", hint="Use small letters, digits, - and _.")
    others = [one for one in profiles(ctx) if one != me(ctx)]
    for one in agents:
        if one not in others:
            raise UnknownName("agent", one[:80], others)
    if not agents or len(agents) > _AGENTS:
        raise UserError("A room needs agents." if not agents else f"A room has {_AGENTS} agents at most.")
    there = await names(ctx)
    if name in there:
        raise UserError(f"There is a room {name!r} by now.", hint="Give it another name.")
    if len(there) >= _ROOMS:
        raise UserError(f"There are {_ROOMS} rooms: more there may not be.")
    made: JSON = {"key": secrets.token_hex(8), "agents": [*dict.fromkeys(agents)], "said": [], "count": 0}
    await ctx.documents.put(f"{_PREFIX}{name}", made, owner=ctx.owner, version=0)
    return await get(ctx, name)


async def get(ctx: PluginContext, name: str) -> Mapping[str, Any]:
    """Return a room: its agents, and what was said last. What an agent said is from outside. Raises UnknownName."""
    kept = await _kept(ctx, name)
    return {"name": name, "agents": kept["agents"], "messages": kept["said"]}


async def _kept(ctx: PluginContext, name: str) -> Mapping[str, Any]:
    found = await ctx.documents.get(f"{_PREFIX}{name}", owner=ctx.owner)
    if found is None or not isinstance(found.value, Mapping):
        raise UnknownName("room", name[:80], await names(ctx))
    return found.value


async def remove(ctx: PluginContext, name: str) -> None:
    """Take a room away; what agents remember of it stays theirs. Raises UnknownName."""
    await get(ctx, name)
    await ctx.documents.delete(f"{_PREFIX}{name}", owner=ctx.owner)


async def say(ctx: PluginContext, name: str, text: str, mark: str = "") -> Sequence[Mapping[str, Any]]:
    """Say something in a room, and return what came of it: the message, and the answers of whom it names.

    An agent whose answer names another one is followed by that one, up to ``tools.peers.answers``. Raises UserError,
    UnknownName.
    """
    text = ctx.masks.text(text.strip())
    if not text or len(text) > _TEXT:
        raise UserError("There is nothing to say." if not text else f"{_TEXT:,} characters are the most.")
    if len(mark) > _MARK:
        raise UserError(f"A mark has {_MARK} characters at most.")
    number = await _add(ctx, name, {"from": "", "text": text, "mark": mark})
    while True:
        room = await _kept(ctx, name)
        here = [one for one in room["said"] if number in (one["number"], one.get("to"))]
        if not here:
            raise UserError("Too much was said since, and that is kept no longer.")
        following = _next(here, room["agents"], config_of(ctx).answers)
        if not following:
            return here
        key = f"room {name} {room.get('key', '')} {number} {len(here)} {following}"
        try:
            found = await ask(ctx, following, _told(room, name, following), key)
            said = {"text": str(found.get("answer") or "")[:_TEXT], "session": str(found.get("session") or "")}
        except UserError as error:  # it is said to all, and the others go on
            said = {"text": "", "error": error.text}
        await _add(ctx, name, {"from": following, "to": number, "mark": "", "outside": True, **said}, len(here))


def _next(here: Sequence[Mapping[str, Any]], agents: Sequence[str], most: int) -> str:
    """Return who is to answer next, as it follows from what was said: nobody is kept in mind anywhere else."""
    waiting: list[str] = []
    for one in here:
        if one["from"] in waiting:
            waiting.remove(one["from"])
        heard = [who for who in dict.fromkeys(_MENTION.findall(one["text"])) if who in agents and who != one["from"]]
        if not one["from"] and not heard and len(agents) == 1:
            heard = [*agents]
        waiting += [who for who in heard if who not in waiting]
    return waiting[0] if waiting and len(here) <= most else ""


def _told(room: Mapping[str, Any], name: str, agent: str) -> str:
    """Return what an agent is told: who is there, and what was said since it spoke last."""
    others = ", ".join(f"@{one}" for one in room["agents"] if one != agent) or "nobody else"
    said = [*room["said"]]
    last = max((number for number, one in enumerate(said) if one["from"] == agent), default=-1)
    heard = [one for one in said[last + 1 :][-_TOLD:] if one["text"]]
    # What follows the first line of a text is set in: no line of it looks as if another one had said it.
    lines = ["\n    ".join(f"{one['from'] or 'the person'}: {one['text']}".splitlines()) for one in heard]
    head = (
        f"You are @{agent} in the room {name}, with a person and {others}; each hears you where you write their name."
    )
    return f"{head} It was said:\n\n" + "\n\n".join(lines)[-16_000:]


async def _add(ctx: PluginContext, name: str, message: Mapping[str, Any], after: int = 0) -> int:
    """Write a message down; its number. One with a mark is written once.

    An answer is written once, too: ``after`` so many of what it answers to.
    """
    number = 0

    def added(kept: JSON | None) -> JSON:
        nonlocal number
        if not isinstance(kept, Mapping):
            raise UnknownName("room", name, ())
        said: list[Any] = [*kept["said"]]
        known = next((one["number"] for one in said if message["mark"] and one["mark"] == message["mark"]), 0)
        number = known or kept["count"] + 1
        if known:
            return kept
        if after and sum(message["to"] in (one["number"], one.get("to")) for one in said) != after:
            return kept  # another process was faster
        return {**kept, "count": number, "said": [*said, {"number": number, **message}][-_KEPT:]}

    await ctx.documents.change(f"{_PREFIX}{name}", added, owner=ctx.owner)
    return number
