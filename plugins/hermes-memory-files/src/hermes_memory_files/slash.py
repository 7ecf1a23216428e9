"""``/memory`` and ``/user``: what people do themselves about what is remembered of them."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError, UserError
from hermes_core.types import Choice, Session, SlashCommand
from hermes_memory_files.memory import FilesMemory
from hermes_memory_files.pending import Waiting, approve, reject, waiting
from hermes_memory_files.profile import forget, keep, told
from hermes_memory_files.store import FILES, MemoryStore

__all__ = ["shown", "slash_commands"]

T = TypeVar("T")
_DECIDE = {"approve": approve, "reject": reject}


def slash_commands(ctx: PluginContext) -> Sequence[SlashCommand]:
    """Return the commands; the manifest says all but what they do."""

    async def options(session: Session, rest: str) -> Sequence[Choice]:
        verb, gap, part = rest.partition(" ")
        if not gap:
            return [Choice(one, "", len(rest)) for one in _DECIDE if one.startswith(rest)]
        if verb not in _DECIDE:
            return ()
        store = FilesMemory.of(ctx).store(session.owner)
        there = await asyncio.to_thread(waiting, store)
        return [Choice(one.id, one.lines(())[0][:80], len(part)) for one in there if one.id.startswith(part)]

    return [
        SlashCommand(name="memory", run=partial(_memory, ctx), options=options),
        SlashCommand(name="user", run=partial(_user, ctx)),
    ]


async def _memory(ctx: PluginContext, session: Session, rest: str) -> str:
    store, (verb, _, wanted) = _own(ctx, session), rest.strip().partition(" ")
    if verb in _DECIDE:
        one = await _done(partial(_DECIDE[verb], store, wanted.strip()))
        return "\n".join([f"{'Kept' if verb == 'approve' else 'Dropped'}: {one.id}", *one.lines(())])
    if verb not in ("", "pending"):
        raise UserError(f"I do not know /memory {verb}.", hint="/memory [approve ID|reject ID]")
    there = await asyncio.to_thread(waiting, store)
    lines = [line for one in there for line in shown(one, store)]
    return "\n".join([*lines, "", "/memory approve ID, /memory reject ID"]) if lines else "Nothing waits to be kept."


async def _user(ctx: PluginContext, session: Session, rest: str) -> str:
    store, (verb, _, text) = _own(ctx, session), rest.strip().partition(" ")
    if verb == "add":
        return f"Kept: {await _done(partial(keep, store, text))}"
    if verb == "forget":
        return f"Forgotten: {await _done(partial(forget, store, text))}"
    if verb:
        raise UserError(f"I do not know /user {verb}.", hint="/user [add TEXT|forget PART OF IT]")
    return await _done(partial(told, store))


def shown(one: Waiting, store: MemoryStore) -> list[str]:
    """Say what one change would do, for a screen."""
    try:
        entries = store.entries(one.target)
    except ToolError:
        entries = ()
    outside = "" if one.source.trusted else ", after text from outside was read"
    head = f"{one.id}  {FILES[one.target]}, from session {one.source.session_id or 'unknown'}{outside}"
    return [head, *(f"    {line}" for line in one.lines(entries))]


def _own(ctx: PluginContext, session: Session) -> MemoryStore:
    """Return the memory of who speaks. Raises UserError where a tool types it, or others read the answer."""
    conversation = ctx.conversation(session)
    conversation.need_person()
    envelope = conversation.envelope
    if (envelope and envelope.kind != "dm") or session.asker != session.owner:
        raise UserError("What is remembered of you is yours alone. Say it in our private chat.")
    return FilesMemory.of(ctx).store(session.owner)


async def _done(work: Callable[[], T]) -> T:
    try:
        return await asyncio.to_thread(work)
    except ToolError as error:
        raise UserError(error.text, hint=error.hint) from None
