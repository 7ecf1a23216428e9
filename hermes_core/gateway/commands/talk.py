"""Slash commands about what was said: sessions and their messages."""

import json
import os
from pathlib import Path

from hermes_core.errors import UnknownName, UserError
from hermes_core.gateway.commands.deck import Deck
from hermes_core.gateway.commands.slash import QUEUED, STEERED
from hermes_core.types import Message, Session

__all__ = [
    "branch", "history", "new", "queue", "resume", "retry", "save", "search", "sessions", "steer", "stop", "title",
    "undo",
]  # fmt: skip


async def new(deck: Deck, session: Session, _rest: str) -> str:
    """A new session; the one before stays."""
    fresh = await deck.conversation(session.id).switch()
    return f"New session {fresh.id}."


async def resume(deck: Deck, session: Session, rest: str) -> str:
    """Go on in an earlier one."""
    store = await deck.runtime.store()
    found = await store.find_session(rest or "latest", session.owner)
    await deck.conversation(session.id).switch(found.id)
    rows = await store.messages(session.owner, found.id, window=3)
    recap = "\n".join(f"{m.role}: {short(m)}" for _, m in rows if m.role in ("user", "assistant") and short(m))
    return f"Resumed {found.id} {found.title}\n{recap}".strip()


async def sessions(deck: Deck, session: Session, rest: str) -> str:
    """The last ones."""
    store = await deck.runtime.store()
    rows = await store.list_sessions(session.owner, limit=int(rest) if rest.isdigit() else 10)
    return "\n".join(f"    {r.session.id}  {r.session.title or r.preview[:60]}" for r in rows) or "No session yet."


async def title(deck: Deck, session: Session, rest: str) -> str:
    """Name the session."""
    if not rest:
        raise UserError("Say the title: /title TEXT")
    deck.conversation(session.id).session = await deck.runtime.sessions.rename(session, rest)
    return f"This session is now called {rest!r}."


async def history(deck: Deck, session: Session, rest: str) -> str:
    """The last messages, as people read them."""
    count = _number(rest, 10)
    try:
        rows = await (await deck.runtime.store()).messages(session.owner, session.id, window=min(4 * count, 400))
    except UnknownName:
        rows = []
    said = [f"{m.role}: {short(m)}" for _, m in rows if m.role in ("user", "assistant") and short(m)]
    return "\n".join(said[-count:]) or "Nothing was said yet."


async def search(deck: Deck, session: Session, rest: str) -> str:
    """Find messages of all sessions."""
    if not rest:
        raise UserError("Say what to look for: /search WORDS")
    hits = await (await deck.runtime.store()).search(session.owner, rest, limit=10)
    return "\n".join(f"    {h.session_id}  {h.role}: {h.snippet}" for h in hits) or f"Nothing says {rest!r}."


async def undo(deck: Deck, session: Session, rest: str) -> str:
    """Take back the last exchanges. A chat's command that a death cut off is carried out once."""
    count, conversation = _number(rest, 1), deck.conversation(session.id)
    by = f"undo {conversation.event or os.urandom(8).hex()}"
    try:
        gone = await (await deck.runtime.store()).undo(session.owner, session.id, count, by)
    except UnknownName:
        gone = []
    conversation.last = None
    if not gone:
        return "There is nothing to take back."
    what = "the last exchange" if len(gone) == 1 else f"the last {len(gone)} exchanges"
    return f"Taken back: {what}, from {short(gone[0], 80)!r} on. What commands did in files and elsewhere stays done."


async def branch(deck: Deck, session: Session, rest: str) -> str:
    """Go on in a copy; the session itself stays where it is."""
    from attrs import evolve

    from hermes_core.agent.live import new_session_id

    copy = evolve(session, id=new_session_id(), title=rest, created=0.0, parent="", turn="")
    try:
        await (await deck.runtime.store()).fork_session(session.owner, session.id, copy)
    except UnknownName:
        raise UserError("There is nothing to branch off from yet.") from None
    await deck.conversation(session.id).switch(copy.id)
    return f"This is a copy now, {copy.id} {rest}".rstrip() + f". /resume {session.id} goes back."


async def save(deck: Deck, session: Session, rest: str) -> str:
    """Write the session into a new file: markdown, or JSON where its name ends so."""
    from hermes_core.config.files import explain
    from hermes_core.store.codec import to_openai

    deck.need_person()
    path = Path(session.cwd, Path(rest).expanduser()) if rest else Path(session.cwd, f"{session.id}.md")
    messages = await (await deck.runtime.store()).history(session.id, whole=True)
    if not messages:
        raise UserError("Nothing was said yet.")
    masks, head = deck.runtime.settings.masks, session.title or session.id
    if path.suffix == ".json":
        told = masks.data([line for message in messages for line in to_openai(message)])
        text = json.dumps({"id": session.id, "title": session.title, "messages": told}, ensure_ascii=False, indent=2)
    else:
        said = [f"## {m.role}\n\n{whole(m)}" for m in messages if whole(m)]
        text = masks.text("\n\n".join([f"# {head}", *said]))
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text + "\n")
    except FileExistsError:
        raise UserError(f"{path} is there already.", hint="Say another name: /save FILE") from None
    except OSError as error:
        raise explain(error, "write", path) from error
    return f"Saved: {path}"


async def stop(deck: Deck, session: Session, _rest: str) -> str:
    """End the running turn."""
    return "" if deck.runtime.interrupt(session.id) else "Nothing runs."


async def steer(deck: Deck, session: Session, rest: str) -> str:
    """Say something to the running turn."""
    if not rest:
        raise UserError("Say what the model should hear: /steer TEXT")
    await deck.runtime.steer(session.id, rest, owner=session.owner, origin=session.origin)
    return STEERED if deck.runtime.busy(session.id) else ""


async def queue(deck: Deck, session: Session, rest: str) -> str:
    """Say something after the running turn, or look at what waits."""
    store = await deck.runtime.store()
    if rest == "clear":
        return f"Given up: {await store.drop_waiting(session.id)} waiting."
    if rest:
        await deck.runtime.queue(session.id, rest, owner=session.owner, origin=session.origin)
        return QUEUED if deck.runtime.busy(session.id) else ""
    waiting = await store.waiting(session.id)
    return "\n".join(f"    {one.mode}: {short(one.message)}" for one in waiting) or "Nothing waits."


async def retry(deck: Deck, session: Session, _rest: str) -> Message | str:
    """Ask the last question again: also one that was never stored, as nobody could answer."""
    if last := deck.conversation(session.id).last:
        return last.message
    rows = await (await deck.runtime.store()).history(session.id)
    found = next((message for message in reversed(rows) if message.role == "user"), None)
    return found or "There is no question to ask again."


def whole(message: Message) -> str:
    """What was said in a message."""
    from hermes_core.agent.turn import text_of

    return text_of(message).strip()


def short(message: Message, most: int = 200) -> str:
    """The same on one line."""
    text = " ".join(whole(message).split())
    return text if len(text) <= most else f"{text[:most]}…"


def _number(rest: str, usual: int) -> int:
    if rest and not (rest.isdecimal() and 0 < int(rest) < 1000):
        raise UserError(f"{rest!r} is no number of 1 to 999.")
    return int(rest or usual)
