"""Ranking by meaning, beside words: where it is set, by the model of ``auxiliary.embed``.

What is searched for is embedded when it is; what tools say of themselves beside the turn, once, and until that is done
words alone count, as they do whenever the model does not answer in time.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from heapq import nlargest
from itertools import starmap
from operator import mul
from typing import TYPE_CHECKING

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import MediaRequest, Session, ToolSpec
from hermes_tool_search.words import words

if TYPE_CHECKING:
    from hermes_tool_search.index import Index

__all__ = ["by_meaning", "end"]

_DEPTH = 50  # of both lists are put together
_K, _WEIGHT = 5, 0.5  # of reciprocal ranks: how soon places say little; how much meaning counts beside words
_LONGEST = 500  # characters of a text that is embedded
_AT_ONCE = 64  # texts in one request
_PATIENCE = 3.0  # seconds that a search waits for its vector
_REST = 600.0  # seconds after a failure in which the model is left alone
_TASK = "embed"


async def by_meaning(
    ctx: PluginContext, session: Session, index: "Index", specs: Sequence[ToolSpec], query: str, limit: int
) -> Sequence[str]:
    """The names of tools that fit, by words and by meaning; by words alone as long as meaning is not to be had."""
    said = index.search(query, max(limit, _DEPTH))
    if not words(query) or time.monotonic() < ctx.state.get("rest until", 0.0):
        return said[:limit]
    try:
        async with asyncio.timeout(_PATIENCE):
            near = await _near(ctx, session, specs, query)
    except (HermesError, TimeoutError) as error:
        _rest(ctx, error)
        near = ()
    return _together(said, near, limit)


async def end(ctx: PluginContext, session: Session) -> None:
    """Stop what is still made for a session; what is made by then is kept."""
    task: asyncio.Task[None] | None = ctx.state.get("making", {}).pop(session.id, None)
    if task:
        task.cancel()
        await asyncio.wait([task])


async def _near(ctx: PluginContext, session: Session, specs: Sequence[ToolSpec], query: str) -> Sequence[str]:
    """The tools that are nearest, best first; none while their vectors are still made."""
    from hermes_tool_search.vectors import hash_of, known, packed

    texts = {spec.name: _text(spec) for spec in specs}
    hashes = {name: hash_of(text) for name, text in texts.items()}
    asked = MediaRequest(texts=(ctx.masks.text(query[:_LONGEST]),))
    found = await ctx.llm.media("embed", asked, task=_TASK, session=session)
    wanted = packed(found.vectors[0])
    have = await known(ctx.store, session.owner.person, found.model, {*hashes.values()})
    missing = {hashes[name]: text for name, text in texts.items() if hashes[name] not in have}
    if missing:
        _make(ctx, session, found.model, missing)
        return ()
    return await asyncio.to_thread(_nearest, {name: have[key] for name, key in hashes.items()}, wanted)


def _make(ctx: PluginContext, session: Session, model: str, texts: Mapping[str, str]) -> None:
    """Have vectors made beside the turn, by one at a time."""
    making: dict[str, asyncio.Task[None]] = ctx.state.setdefault("making", {})
    if all(task.done() for task in making.values()):
        making.clear()
        making[session.id] = asyncio.create_task(_made(ctx, evolve(session, turn=""), model, texts), name="vectors")


async def _made(ctx: PluginContext, session: Session, model: str, texts: Mapping[str, str]) -> None:
    from hermes_tool_search.vectors import MOST, packed, put

    rows = list(texts.items())[:MOST]
    try:
        for at in range(0, len(rows), _AT_ONCE):
            some = rows[at : at + _AT_ONCE]
            asked = MediaRequest(texts=tuple(text for _, text in some))
            found = await ctx.llm.media("embed", asked, task=_TASK, session=session)
            if found.model != model:  # another one answers now, and the next search asks it for all
                return
            each = {key: packed(vector) for (key, _), vector in zip(some, found.vectors, strict=True)}
            await put(ctx.store, session.owner.person, model, each)  # what is made stays, whatever comes next
    except HermesError as error:
        _rest(ctx, error)


def _rest(ctx: PluginContext, error: Exception) -> None:
    """Leave the model alone for a while, and say why in the log."""
    ctx.state["rest until"] = time.monotonic() + _REST
    ctx.log.warning("tools are found by words alone: %s", str(error) or "the model for vectors takes too long")


def _text(spec: ToolSpec) -> str:
    """What a tool says of itself: its name in words, and what it does."""
    return f"{' '.join(words(spec.name.removeprefix('mcp__')))}: {spec.description}"[:_LONGEST]


def _nearest(vectors: Mapping[str, bytes], wanted: bytes) -> Sequence[str]:
    from hermes_tool_search.vectors import unpacked

    to = unpacked(wanted)
    near = ((_product(to, unpacked(one)), name) for name, one in vectors.items() if len(one) == len(wanted) > 0)
    return [name for _, name in nlargest(_DEPTH, near)]


def _product(one: Sequence[float], other: Sequence[float]) -> float:
    return float(sum(starmap(mul, zip(one, other, strict=True))))


def _together(said: Sequence[str], near: Sequence[str], limit: int) -> Sequence[str]:
    """Two lists as one, by the places that each has in both."""
    points: dict[str, float] = defaultdict(float)
    for names, weight in ((said, 1.0), (near, _WEIGHT)):
        for place, name in enumerate(names):
            points[name] += weight / (_K + place)
    return sorted(points, key=lambda name: (-points[name], name))[:limit]
