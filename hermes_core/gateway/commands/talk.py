"""Slash commands about what was said: sessions and their messages."""

import json
import os
from pathlib import Path

from hermes_core.errors import UnknownName, UserError
from hermes_core.gateway.commands.deck import Room
from hermes_core.gateway.commands.slash import QUEUED, STEERED
from hermes_core.store.outside import by_person
from hermes_core.types import Message, Session, Text

__all__ = ["Talk", "short"]


class Talk(Room):
    """What people say about what was said."""

    async def new(self, session: Session, _rest: str) -> str:
        fresh = await self._deck.conversation(session.id).switch()
        return f"New session {fresh.id}."

    async def resume(self, session: Session, rest: str) -> str:
        store = await self._runtime.store()
        found = await store.find_session(rest or "latest", session.owner)
        await self._deck.conversation(session.id).switch(found.id)
        rows = await store.messages(session.owner, found.id, window=3)
        recap = "\n".join(f"{m.role}: {short(m)}" for _, m in rows if m.role in ("user", "assistant") and short(m))
        return f"Resumed {found.id} {found.title}\n{recap}".strip()

    async def sessions(self, session: Session, rest: str) -> str:
        store = await self._runtime.store()
        rows = await store.list_sessions(session.owner, limit=int(rest) if rest.isdigit() else 10)
        return "\n".join(f"    {r.session.id}  {r.session.title or r.preview[:60]}" for r in rows) or "No session yet."

    async def title(self, session: Session, rest: str) -> str:
        if not rest:
            raise UserError("Say the title: /title TEXT")
        self._deck.conversation(session.id).session = await self._runtime.sessions.rename(session, rest)
        return f"This session is now called {rest!r}."

    async def history(self, session: Session, rest: str) -> str:
        count = _number(rest, 10)
        try:
            rows = await (await self._runtime.store()).messages(session.owner, session.id, window=min(4 * count, 400))
        except UnknownName:
            rows = []
        said = [f"{m.role}: {short(m)}" for _, m in rows if m.role in ("user", "assistant") and short(m)]
        return "\n".join(said[-count:]) or "Nothing was said yet."

    async def search(self, session: Session, rest: str) -> str:
        if not rest:
            raise UserError("Say what to look for: /search WORDS")
        hits = await (await self._runtime.store()).search(session.owner, rest, limit=10)
        return "\n".join(f"    {h.session_id}  {h.role}: {h.snippet}" for h in hits) or f"Nothing says {rest!r}."

    async def undo(self, session: Session, rest: str) -> str:
        count, conversation = _number(rest, 1), self._deck.conversation(session.id)
        by = f"undo {conversation.event or os.urandom(8).hex()}"
        try:
            gone = await (await self._runtime.store()).undo(session.owner, session.id, count, by)
        except UnknownName:
            gone = []
        conversation.last = None
        if not gone:
            return "There is nothing to take back."
        what = "the last exchange" if len(gone) == 1 else f"the last {len(gone)} exchanges"
        return (
            f"Taken back: {what}, from {short(gone[0], 80)!r} on. What commands did in files and elsewhere stays done."
        )

    async def branch(self, session: Session, rest: str) -> str:
        from attrs import evolve

        from hermes_core.agent.live import new_session_id

        copy = evolve(session, id=new_session_id(), title=rest, created=0.0, parent="", turn="")
        try:
            await (await self._runtime.store()).fork_session(session.owner, session.id, copy)
        except UnknownName:
            raise UserError("There is nothing to branch off from yet.") from None
        await self._deck.conversation(session.id).switch(copy.id)
        return f"This is a copy now, {copy.id} {rest}".rstrip() + f". /resume {session.id} goes back."

    async def save(self, session: Session, rest: str) -> str:
        from hermes_core.config.files import explain
        from hermes_core.store.codec import to_openai

        self._deck.need_person()
        path = Path(session.cwd, Path(rest).expanduser()) if rest else Path(session.cwd, f"{session.id}.md")
        messages = await (await self._runtime.store()).history(session.id, whole=True)
        if not messages:
            raise UserError("Nothing was said yet.")
        masks, head = self._runtime.settings.masks, session.title or session.id
        if path.suffix == ".json":
            told = masks.data([line for message in messages for line in to_openai(message)])
            text = json.dumps(
                {"id": session.id, "title": session.title, "messages": told}, ensure_ascii=False, indent=2
            )
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

    async def stop(self, session: Session, _rest: str) -> str:
        return "" if self._runtime.interrupt(session.id) else "Nothing runs."

    async def steer(self, session: Session, rest: str) -> str:
        if not rest:
            raise UserError("Say what the model should hear: /steer TEXT")
        await self._runtime.steer(session.id, rest, owner=session.owner, origin=session.origin)
        return STEERED if self._runtime.busy(session.id) else ""

    async def queue(self, session: Session, rest: str) -> str:
        store = await self._runtime.store()
        if rest == "clear":
            return f"Given up: {await store.drop_waiting(session.id)} waiting."
        if rest:
            await self._runtime.queue(session.id, rest, owner=session.owner, origin=session.origin)
            return QUEUED if self._runtime.busy(session.id) else ""
        waiting = await store.waiting(session.id)
        return "\n".join(f"    {one.mode}: {short(one.message)}" for one in waiting) or "Nothing waits."

    async def retry(self, session: Session, _rest: str) -> Message | str:
        if last := self._deck.conversation(session.id).last:
            return last.message
        rows = await (await self._runtime.store()).history(session.id)
        found = next((message for message in reversed(rows) if by_person(message)), None)
        return found or "There is no question to ask again."


def whole(message: Message) -> str:
    """What was said in a message."""
    return "\n\n".join(part.text for part in message.parts if isinstance(part, Text)).strip()


def short(message: Message, most: int = 200) -> str:
    """The same on one line."""
    text = " ".join(whole(message).split())
    return text if len(text) <= most else f"{text[:most]}…"


def _number(rest: str, usual: int) -> int:
    if rest and not (rest.isdecimal() and 0 < int(rest) < 1000):
        raise UserError(f"{rest!r} is no number of 1 to 999.")
    return int(rest or usual)
