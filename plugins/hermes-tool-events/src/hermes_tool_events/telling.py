"""Tells what happened, in one process of all that share the store, until it was taken or is given up."""

import asyncio
import hashlib
import json
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any

from attrs import evolve

from hermes_core.codec import plain_text
from hermes_core.context import PluginContext
from hermes_core.database import Prepared
from hermes_core.errors import HermesError, UnknownName, UserError
from hermes_core.kinds import Service
from hermes_core.types import Blob, Message, Principal, Target
from hermes_tool_events.config import Config, TargetSettings
from hermes_tool_events.desktop import absent
from hermes_tool_events.hearing import rows_of
from hermes_tool_events.values import MESSAGE, Begun, Told
from hermes_tool_kit.hours import quiet_end
from hermes_tool_kit.telling import Happened, Outlets, announcing

__all__ = ["PAUSES", "Telling", "event_of"]

PAUSES = (5.0, 60.0, 300.0, 1_800.0, 7_200.0, 18_000.0, 36_000.0)  # seconds before it is tried again: a day in all
_LOOK, _PAUSE = 2.0, 0.2  # seconds between two looks for questions, and at least between any two
_LOST, _STRAYS = 30.0, 60.0  # after which a turn that did not say that it is over is looked at, and how often
_TEXT = 2_000  # characters of an answer
_AT_ONCE = 8  # that are told at the same time
_TIDY = 3_600.0
_ASK = 5.0  # seconds between two questions to other services what happened
_AGAIN = 120.0  # seconds before what is known for which they are asked again: what was begun before may be stored later
_OLDEST = 86_400.0  # of what happened while nobody was told: the rest is no news any more
_MOST = 200  # of what happened that is asked for at once
_SUBJECT = re.compile(r"\A\*\*([^*\n]{1,200})\*\*\n\n")  # how `hermes send --subject` begins a message


class Telling(Service, Outlets):
    """Finds out what happened, and tells it. What somebody sends to a target is told in the same way."""

    name = "events"
    alone = True

    def __init__(self, ctx: PluginContext) -> None:
        self.ctx = ctx
        self._config: Config = ctx.config or Config()
        self._strays = self._tidied = self._asked = -_TIDY

    async def run(self) -> None:
        """Look, and wait for more."""
        from hermes_tool_events.rows import NEWS

        if not self._config.targets:
            return
        told = asyncio.Event()
        leave = await self.ctx.store.subscribe(NEWS, told.set)
        try:
            while True:
                told.clear()
                await self.round()
                await asyncio.sleep(_PAUSE)
                with suppress(TimeoutError):
                    await asyncio.wait_for(told.wait(), _LOOK)
        finally:
            leave()

    async def status(self) -> str:
        """Say what waits, and what was given up."""
        counts = await rows_of(self.ctx).counts()
        words = [f"{counts[state]} {state}" for state in ("waiting", "dead") if counts.get(state)]
        return ", ".join(words) + (f"; {self.ctx.program} events log --dead" if counts.get("dead") else "")

    async def round(self, *, lost: float = _LOST) -> None:
        """Write down what happened, and tell what is due."""
        rows, now = rows_of(self.ctx), time.monotonic()
        if now - self._tidied > _TIDY:
            self._tidied = now
            await rows.forget(self._config.keep_days * 86_400)
        strays = now - self._strays > _STRAYS
        if strays:
            self._strays = now
        for one in await rows.unsettled(lost if strays else 0.0):
            await self._turn(one)
        await self._questions()
        await self.ask(now)
        due = await rows.due()
        for at in range(0, len(due), _AT_ONCE):
            await asyncio.gather(*(self._tell(one) for one in due[at : at + _AT_ONCE]))

    async def _turn(self, one: Begun) -> None:
        """Write down what is told of a turn, if it is over: the kernel's own row says so, and how it ended."""
        owner = evolve(self.ctx.owner, person=one.person)
        found = await self.ctx.sessions.traces(owner, one.turn)
        turn = next((row for path in found for row in path.turns if row["id"] == one.turn), None)
        if turn is None:  # its session was deleted
            await rows_of(self.ctx).settle(one.turn, ())
        elif turn["state"] != "open":
            known = {name: turn[name] for name in ("provider", "model", "input", "output", "cost", "calls")}
            data = {"session": one.session, "turn": one.turn, "origin": one.origin, "person": one.person}
            data |= {"seconds": round(max(0.0, turn["ended"] - turn["started"]), 3), "error": turn["error"], **known}
            name, when = f"turn.{turn['state']}", turn["ended"]
            wanted = self._wanted(name, one.origin)
            text = await self._answer(owner, one) if any(target.text for target in wanted.values()) else ""
            await rows_of(self.ctx).settle(one.turn, _told(wanted, name, one.turn, when, data, text), one.person)

    async def _answer(self, owner: Principal, one: Begun) -> str:
        """Return what was said last in a session, without secrets."""
        with suppress(UnknownName):
            for _, message in reversed(await self.ctx.sessions.read(owner, one.session)):
                if message.role == "assistant" and (text := plain_text(message.parts)):
                    return self.ctx.masks.text(text[:_TEXT])
        return ""

    async def _questions(self) -> None:
        """Write down the questions that wait for the owner, each once."""
        if not self._wanted("question.asked", ""):
            return
        asked = {_event("question.asked", one.id): one for one in await self.ctx.approvals.list(
            self.ctx.owner, limit=100, admin=True
        )}  # fmt: skip
        known = await rows_of(self.ctx).known(list(asked)) if asked else set()
        for event, one in asked.items():
            if event not in known:
                data = {"session": one.session_id, "turn": one.turn_id, "question": one.id, "risk": one.risk}
                subject = self.ctx.masks.text(one.subject[:_TEXT])
                wanted = self._wanted("question.asked", "")
                told = _told(wanted, "question.asked", one.id, one.asked, data, subject, field="subject")
                await rows_of(self.ctx).settle("", told, self.ctx.owner.person)

    async def ask(self, now: float) -> None:
        """Write down what other services say that happened, each once, and until when they were asked."""
        if now - self._asked < _ASK:
            return
        self._asked = now
        for name, service in announcing(self.ctx).items():
            clock = await rows_of(self.ctx).now()
            known = await self.ctx.documents.get(f"since {name}")
            since = max(float(str(known.value)), clock - _OLDEST) if known else clock
            found = await service.happened(since - _AGAIN, _MOST)
            for one in found if known else ():  # what was before anybody wanted to be told, is not told
                await self._happened(name, one)
            whole = len(found) < _MOST
            if not known or not whole or clock - since > _STRAYS:
                await self.ctx.documents.put(f"since {name}", str(clock if whole else found[-1].when + _AGAIN))

    async def _happened(self, origin: str, one: Happened) -> None:
        masks = self.ctx.masks
        data = {**one.data, "title": masks.text(one.title), "person": one.person, "origin": origin}
        told = _told(
            self._wanted(one.name, origin), one.name, one.about, one.when, data, masks.text(one.text[:_TEXT]), "text"
        )
        if told:
            await rows_of(self.ctx).settle("", told, one.person)

    # --- messages -----------------------------------------------------------------------------------------------------

    def outlets(self) -> Sequence[Target]:
        """Return the targets of the settings, as targets of messages."""
        return [
            Target(address=f"{one.kind}:{name}", name=name, kind="dm" if one.mine else "address")
            for name, one in self._config.targets.items()
        ]

    async def post(self, name: str, message: Message, key: str) -> None:
        """Write a message down to be sent. Raises UserError for files."""
        if any(isinstance(part, Blob) for part in message.parts):
            raise UserError(f"{name} takes no files.", hint="Send them to a chat.")
        await rows_of(self.ctx).settle("", [self._message(name, message, key)], self.ctx.owner.person)

    async def posting(self, name: str, message: Message, key: str) -> Prepared[object]:
        """Return what writes the end of a turn down to be sent."""
        told = [self._message(name, message, key)]
        return await self.ctx.store.prepare(rows_of(self.ctx).settling("", told, self.ctx.owner.person))

    def _message(self, name: str, message: Message, key: str) -> Told:
        text = plain_text(message.parts)
        title = found[1] if (found := _SUBJECT.match(text)) else self.ctx.program.capitalize()
        files = [f"[file: {part.name or part.media_type}]" for part in message.parts if isinstance(part, Blob)]
        words = "\n".join([text[found.end() :] if found else text, *files]).strip()
        data = {"title": title, "text": words, "outside": message.untrusted}
        event, body = event_of(MESSAGE, f"{name} {key}", time.time(), data)
        return Told(event=event, target=name, name=MESSAGE, body=body)

    # --- to whom ------------------------------------------------------------------------------------------------------

    def _wanted(self, name: str, origin: str) -> Mapping[str, TargetSettings]:
        return {
            called: one
            for called, one in self._config.targets.items()
            if not (one.kind == "desktop" and absent())  # where there is none it is no failure
            and (not one.events or any(fnmatchcase(name, glob) for glob in one.events))
            and (not one.origins or not origin or origin in one.origins)
        }

    async def _tell(self, one: Told) -> None:
        """Tell one, and write down that it was. A death in between tells it again, under the same name."""
        from hermes_tool_events.sending import GaveUp, send

        target = self._config.targets.get(one.target)
        try:
            if target is None:
                raise GaveUp("Nobody of this name is told any more.")
            if target.quiet and (until := quiet_end(target.quiet, await rows_of(self.ctx).now())):
                await rows_of(self.ctx).held(one.id, until)
                return
            await send(self.ctx, target, self._config.mail, one)
        except HermesError as error:
            over = isinstance(error, GaveUp) or one.tries >= len(PAUSES)
            note = self.ctx.masks.text(str(error))
            if over:
                self.ctx.log.warning("%s could not be told of %s: %s", one.target, one.name, note)
            await rows_of(self.ctx).failed(one.id, note, None if over else PAUSES[one.tries])
        else:
            await rows_of(self.ctx).done(one.id)


def event_of(name: str, about: str, when: float, data: Mapping[str, Any]) -> tuple[str, str]:
    """Return the name of an event, and what happened as JSON, after Standard Webhooks."""
    stamp = datetime.fromtimestamp(when, UTC).isoformat().replace("+00:00", "Z")
    return _event(name, about), json.dumps({"type": name, "timestamp": stamp, "data": data}, ensure_ascii=False)


def _event(name: str, about: str) -> str:
    return f"evt_{hashlib.sha256(f'{name} {about}'.encode()).hexdigest()[:40]}"


def _told(
    wanted: Mapping[str, TargetSettings],
    name: str,
    about: str,
    when: float,
    data: Mapping[str, Any],
    text: str,
    field: str = "answer",
) -> Sequence[Told]:
    """Return what each target is told; what was said only where its settings say so."""
    found = []
    for called, target in wanted.items():
        event, body = event_of(name, about, when, {**data, field: text} if target.text and text else data)
        found.append(Told(event=event, target=called, name=name, body=body))
    return found
