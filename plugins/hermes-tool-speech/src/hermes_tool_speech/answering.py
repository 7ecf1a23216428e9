"""Answers as voice notes, in chats that wish it: ``/voice on`` beside their text, ``/voice only`` in its place.

What is to be said beside a text is written down when the turn ends, and sent under a key of that turn, so it is heard
once, and also after a death. What stands in its place is made before the turn ends, and goes out with its end: a turn
that a death cuts off before is taken up, and speaks again.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, UnknownName, UserError
from hermes_core.kinds import Service
from hermes_core.types import (
    JSON,
    Choice,
    Message,
    Principal,
    Response,
    Session,
    SlashCommand,
    Text,
    ToolCall,
    TurnEnd,
    Verdict,
)

__all__ = ["HERE", "Voices", "heard", "instead", "kept_back", "over", "voice_command"]

HERE = frozenset({"cli", "oneshot", "embed", "api", "child"})  # where sessions come from that are no chats
_WISHES = "voice"  # of an owner: their chats that wish it, and how
_UNSPOKEN = "unspoken"  # of an owner: their chats that were told that an answer could not be spoken
_WAITING = "waiting"  # of the plugin: whose answers wait
_MOST = 50  # answers that wait
_POLL = 5.0  # seconds: turns may end in other processes
_TRIES = 3
_CHATS = 200
_WORDS = {
    "on": "Answers here come as voice notes, too. `/voice off` ends it.",
    "only": "Answers here come as voice notes, without their text. `/voice off` ends it.",
    "off": "Answers here come as text.",
}
_SAID = {"on": "answers as voice notes, too", "only": "answers as voice notes alone", "off": "answers as text"}


def voice_command(ctx: PluginContext) -> SlashCommand:
    """``/voice``: whether answers in this chat are spoken."""

    async def run(session: Session, rest: str) -> str:
        wanted, address = rest.strip().casefold(), await _address(ctx, session)
        if not address:
            raise UserError("Answers are spoken in chats.", hint="Type /voice in one.")
        kept = await ctx.documents.get(_WISHES, owner=session.owner)
        now = _wishes(kept.value if kept else None).get(address, "off")
        if not wanted:
            return f"It is {now} here. " + "; ".join(f"/voice {name}: {what}" for name, what in _SAID.items()) + "."
        if wanted not in _WORDS:
            raise UserError(f"/voice knows {', '.join(_WORDS)}, and not {wanted[:40]!r}.")

        def edit(old: JSON) -> JSON:
            chats = [*((k, v) for k, v in _wishes(old).items() if k != address), (address, wanted)]
            return dict([one for one in chats if one[1] != "off"][-_CHATS:]) or None

        await ctx.documents.change(_WISHES, edit, owner=session.owner)
        return _WORDS[wanted]

    async def options(_session: Session, rest: str) -> Sequence[Choice]:
        return [Choice(name, what) for name, what in _SAID.items() if name.startswith(rest.strip().casefold())]

    return SlashCommand(name="voice", run=run, options=options)


async def kept_back(ctx: PluginContext, session: Session) -> Verdict | None:
    """Keep the words of an answer back that will be spoken in their place."""
    address, wish = await _wish(ctx, session)
    spoken = ctx.state.setdefault("instead", {})
    spoken.pop(session.id, None)
    if wish != "only":
        return None
    spoken[session.id] = (session.turn, address)
    return Verdict(outcome="deny", reason="answers here are spoken")


async def instead(ctx: PluginContext, session: Session, message: Message) -> Message | None:
    """Return an answer as a voice note, with what cannot be said as text; the text where it cannot be spoken."""
    turn, address = ctx.state.get("instead", {}).pop(session.id, ("", ""))
    if turn != session.turn or not turn:
        return None
    from hermes_tool_speech.spoken import as_note, is_whole, spoken, unspoken
    from hermes_tool_speech.ways import speaking

    text = _text(message)
    if not (words := spoken(text)):
        return None
    others = tuple(part for part in message.parts if not isinstance(part, Text))
    try:
        note = await as_note(ctx, await speaking(ctx).speak(words, session))
    except HermesError as error:
        ctx.log.warning("an answer was not spoken: %s", error)
        if not await _changed(ctx, session, address, unspoken=True):
            return None
        said = f"(Answers come as text as long as they cannot be spoken: {error})"
        return evolve(message, parts=(Text(text=f"{text}\n\n{said}"), *others))
    await _changed(ctx, session, address, unspoken=False)
    left = unspoken(text) if is_whole(text) else text
    stands = text if not left else "" if left == text else words  # where the note cannot go
    return evolve(message, parts=(*([Text(text=left)] if left else []), evolve(note, words=stands), *others))


async def _changed(ctx: PluginContext, session: Session, address: str, *, unspoken: bool) -> bool:
    """Write down whether a chat was told that it is not spoken to; whether that is news."""
    kept = await ctx.documents.get(_UNSPOKEN, owner=session.owner)
    if (address in kept.value if kept else False) == unspoken:
        return False

    def edit(old: Any) -> Any:
        others = [one for one in old or () if one != address]
        return ([*others, address] if unspoken else others)[-_CHATS:] or None

    await ctx.documents.change(_UNSPOKEN, edit, owner=session.owner)
    return True


def heard(ctx: PluginContext, session: Session, response: Response) -> None:
    """Keep what a model said last in a turn, until the turn ends."""
    if session.origin in HERE or not session.turn:
        return
    parts = response.message.parts
    last = "" if any(isinstance(part, ToolCall) for part in parts) else _text(response.message)
    said = ctx.state.setdefault("said", {})
    said[session.id] = (session.turn, last)


async def over(ctx: PluginContext, session: Session, end: TurnEnd) -> None:
    """Write down what is to be spoken of a turn that is done."""
    turn, text = ctx.state.setdefault("said", {}).pop(session.id, ("", ""))
    if end.reason != "done" or not text or turn != session.turn:
        return
    address, wish = await _wish(ctx, session)
    if wish != "on":
        return
    from hermes_tool_speech.spoken import spoken

    if not (text := spoken(text)):
        return
    who, told = session.owner, {"session": session.id, "origin": session.origin, "address": address, "text": text}
    await ctx.documents.put(f"say {turn}", told, owner=who)
    row = [who.profile, who.person, turn, 0]
    await ctx.documents.change(_WAITING, lambda old: [*(old or ()), row][-_MOST:])
    ctx.state.setdefault("wake", asyncio.Event()).set()


class Voices(Service):
    """Speaks what waits, and sends it."""

    name = "voices"
    alone = True

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx, self._why = ctx, ""

    def health(self) -> str:
        """Why the last answer was not spoken."""
        return self._why

    async def run(self) -> None:
        """Look for what waits, at once where a turn of this process ended."""
        wake: asyncio.Event = self._ctx.state.setdefault("wake", asyncio.Event())
        while True:
            wake.clear()
            await self.once()
            with suppress(TimeoutError):
                async with asyncio.timeout(_POLL):
                    await wake.wait()

    async def once(self) -> None:
        """Speak all that waits now."""
        kept = await self._ctx.documents.get(_WAITING)
        for profile, person, turn, tries in kept.value if kept else ():
            who = Principal(profile=profile, person=person)
            try:
                await self._say(who, turn)
            except HermesError as error:
                self._why = f"an answer was not spoken: {error}"
                if tries + 1 < _TRIES and not isinstance(error, UserError):
                    await self._note(turn, tries + 1)
                    continue
            else:
                self._why = ""
            await self._note(turn, None)
            await self._ctx.documents.delete(f"say {turn}", owner=who)

    async def _say(self, who: Principal, turn: str) -> None:
        from hermes_tool_speech.spoken import as_note
        from hermes_tool_speech.ways import speaking

        kept = await self._ctx.documents.get(f"say {turn}", owner=who)
        if kept is None:
            return
        told = {name: str(value) for name, value in kept.value.items()}
        note = await as_note(self._ctx, await speaking(self._ctx).speak(told["text"]))
        message = Message(role="assistant", parts=(note,))
        there = Session(id=told["session"], origin=told["origin"], owner=who, turn=turn)
        await self._ctx.messages.send(who, told["address"], message, there, key=f"voice {turn}")

    async def _note(self, turn: str, tries: int | None) -> None:
        def edit(old: Any) -> Any:
            rows = [[*row[:3], tries] if row[2] == turn else row for row in old or ()]
            return [row for row in rows if row[3] is not None] or None

        await self._ctx.documents.change(_WAITING, edit)


def _wishes(value: JSON) -> Mapping[str, str]:
    """What chats wish; once there were only those that wished for both."""
    return dict(value) if isinstance(value, dict) else dict.fromkeys(value if isinstance(value, list) else (), "on")


async def _wish(ctx: PluginContext, session: Session) -> tuple[str, str]:
    """The chat that a session was last asked in, and what it wishes; empty where it is none, or wishes nothing."""
    kept = None if session.origin in HERE else await ctx.documents.get(_WISHES, owner=session.owner)
    wishes = _wishes(kept.value if kept else None)
    address = await _address(ctx, session) if wishes else ""
    return address, wishes.get(address, "") if address else ""


async def _address(ctx: PluginContext, session: Session) -> str:
    """The chat that a session was last asked in; empty where that is none."""
    if session.origin in HERE:
        return ""
    try:
        found = await ctx.messages.find(session.owner, "origin", session)
    except (UnknownName, UserError):
        return ""
    return found[0].address if found else ""


def _text(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text)).strip()
