"""``/talk on``: a conversation by voice in a terminal. What the model answers is said, and then it is listened again.

A key, a line that is typed, or speech ends what is being said at once, and the words that come are heard. The next
message tells the model where it was cut. There is one microphone, so one conversation of a Hermes is spoken.
"""

import asyncio
import re
import time
from collections.abc import Sequence
from contextlib import suppress

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, UserError
from hermes_core.kinds import Jobs
from hermes_core.types import Blob, Job, Message, Session, Text, TurnOrder
from hermes_tool_speech.config import Config
from hermes_tool_speech.ears import Ears, noticed
from hermes_tool_speech.playing import Sound, plain, play, player_missing, tone
from hermes_tool_speech.talking import listened, microphone
from hermes_tool_speech.ways import hearing, speaking

__all__ = ["Talk", "Talks", "sentences", "talk_of"]

_SHORT, _LONG = 40, 300  # characters of what is said in one go
_STARTS, _ENDS = (660, 880), (440, 330)  # tones: it listens; it does not any more
_TAIL = 60  # characters that tell where an answer was cut
_BRIEF = "(A spoken conversation has begun: what you answer is read aloud. Be brief, and use no tables.)"
_STOPS = re.compile(r"(?<=[.!?…。！？])\s+|\n+|(?<=[。！？])")


def sentences(text: str) -> Sequence[str]:
    """Cut a text into what is said in one go: whole sentences, none very short, none very long."""
    found: list[str] = []
    for one in _STOPS.split(text):
        piece = one.strip()
        while len(piece) > _LONG:
            end = max(piece.rfind(sign, _SHORT, _LONG) for sign in (", ", "; ", " "))
            end = end + 1 if end > 0 else _LONG
            found.append(piece[:end].strip())
            piece = piece[end:].strip()
        if piece and found and len(found[-1]) < _SHORT and len(found[-1]) + len(piece) < _LONG:
            found[-1] = f"{found[-1]} {piece}"
        elif piece:
            found.append(piece)
    return found


class Talk:
    """The conversation that is spoken now. ``begin`` and what it does are called by hooks and by ``/talk``."""

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx
        self._config = ctx.config if isinstance(ctx.config, Config) else Config()
        self.session_id, self.state, self.since = "", "", 0.0
        self.why = self.said = ""  # why it ended; what was said last, for the person to see
        self._heard: tuple[str, str] = ("", "")  # a turn, and what the model said last in it
        self._outside = False  # what it said may repeat what is from outside
        self._round: asyncio.Task[None] | None = None
        self._hush = asyncio.Event()
        self._told = False  # the model knows that it is heard and not read
        self._pieces: Sequence[str] = ()
        self._at, self._begun, self._length = 0, 0.0, 0.0  # which of them is being said, since when, how long it is
        self._cut = ""

    def of(self, session_id: str) -> bool:
        """Whether a session is spoken."""
        return bool(session_id) and self.session_id == session_id

    # --- what a person does -----------------------------------------------------------------------------------------

    async def begin(self, session: Session) -> Message:
        """Begin, or go on: listen, and return what was said. Raises HermesError where that cannot be."""
        await self.end()
        speaking(self._ctx)
        if why := player_missing(self._config):
            raise UserError(why)
        said = await self._listen(self._ears(), session)
        self.session_id, self.since, self.state, self._told, self.why = session.id, time.time(), "answering", False, ""
        return Message(role="user", parts=(Text(text=said),))

    async def end(self, why: str = "") -> None:
        """End it; nothing is said or heard any more when this returns."""
        self.session_id, self.state, self.why = "", "", why
        await self._stop()

    async def key(self) -> None:
        """A key: what is being said ends, and it is listened; where it listened, the conversation ends."""
        if self.state == "speaking":
            self._hush.set()
        else:
            await self.end()
            with suppress(HermesError):
                await play(self._config, tone(*_ENDS))

    # --- what turns do ----------------------------------------------------------------------------------------------

    def words(self, session: Session, text: str, *, outside: bool) -> None:
        """Keep what the model said last, and whether it had read what is from ``outside``."""
        self._heard, self._outside = (session.turn or "", text), outside

    async def rest(self) -> None:
        """Be silent and deaf while something else goes on, and keep where an answer was cut."""
        if self.state == "speaking":
            self._mark()
        self.state = "answering"
        await self._stop()

    def notes(self) -> Sequence[Text]:
        """What the model is told with the next message."""
        notes = []
        if self._cut:
            notes.append(Text(text=f"({self._cut})", quotes="the voice of this conversation"))
            self._cut = ""
        if not self._told:
            notes.append(Text(text=_BRIEF, quotes="the voice of this conversation"))
            self._told = True
        return notes

    def turn_over(self, session: Session, *, done: bool) -> None:
        """Say what came of it, and listen."""
        turn, text = self._heard
        text = text if done and turn == session.turn else ""
        if self._round is not None:
            self._round.cancel()
        self._hush = asyncio.Event()
        self._round = asyncio.ensure_future(self._go_on(session, text))

    # --- one round --------------------------------------------------------------------------------------------------

    async def _go_on(self, session: Session, text: str) -> None:
        from hermes_tool_speech.spoken import spoken

        # A loudspeaker may say orders from outside into an open microphone, where they would be the person's.
        ears, why = self._ears() if self._config.barge_in and not self._outside else None, ""
        try:
            first: Sequence[bytes] = ()
            if pieces := sentences(spoken(text)):
                first = await self._say(pieces, session, ears)
            ears = ears or self._ears()
            said = await self._listen(ears, session, first)
            self.state = "answering"
            message = Message(role="user", parts=(Text(text=said),))
            order = TurnOrder(session=session.id, speaker=session.speaker)
            self.said = said
            await self._ctx.turns.queue(message, owner=session.owner, order=order)
        except HermesError as error:
            why = str(error)
        except Exception as error:  # nobody waits for this task
            self._ctx.log.exception("a spoken conversation ended")
            why = f"{type(error).__name__}: {error}"
        finally:
            if ears is not None:
                await ears.close()
        if why:
            await self._give_up(why)

    def _ears(self) -> Ears:
        return Ears(microphone(self._config, sign=False, paced=True))

    async def _give_up(self, why: str) -> None:
        self._ctx.log.warning("a spoken conversation ended: %s", why)
        self.session_id, self.state, self.why = "", "", why
        with suppress(HermesError):
            await play(self._config, tone(*_ENDS))

    async def _listen(self, ears: Ears, session: Session, first: Sequence[bytes] = ()) -> str:
        """What is said now, in words; ``first`` is its begin, where it was heard already."""
        config = self._config
        try:
            self.state = "listening"
            if not first:
                with suppress(HermesError):  # it listens all the same
                    await play(config, tone(*_STARTS))
                if not config.microphone.lower().endswith(".wav"):
                    ears.forget()
            sound = await listened(ears.blocks(first), config)
        finally:
            await ears.close()
        said = (
            await hearing(self._ctx).hear(Blob(media_type="audio/wav", data=sound, name="said.wav"), session)
        ).strip()
        if not said:
            raise UserError("No words were understood.", hint="Say it again, nearer to the microphone.")
        return said

    async def _say(self, pieces: Sequence[str], session: Session, ears: Ears | None) -> Sequence[bytes]:
        """Say an answer; what was heard above it, where speech cut it off."""
        self.state, self._pieces, self._at, self._begun, self._length, self._cut = "speaking", pieces, 0, 0.0, 0.0, ""
        speech = asyncio.ensure_future(self._speak(pieces, session))
        key = asyncio.ensure_future(self._hush.wait())
        waits: set[asyncio.Future[object]] = {speech, key}  # type: ignore[arg-type]
        above = None
        if ears is not None:
            above = asyncio.ensure_future(noticed(ears, self._config, lambda: self._begun > 0))
            waits.add(above)  # type: ignore[arg-type]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            if speech.done():
                speech.result()
            else:
                self._mark()
            return above.result() if above is not None and above.done() and not speech.done() else ()
        finally:
            for one in waits:
                one.cancel()
            await asyncio.wait(waits)

    async def _speak(self, pieces: Sequence[str], session: Session) -> None:
        """Say one after another; the next is made while one is heard."""
        way = speaking(self._ctx)

        async def made(piece: str) -> Sound:
            return await plain(self._ctx, await way.speak(piece, session))

        coming = asyncio.ensure_future(made(pieces[0]))
        try:
            for at in range(len(pieces)):
                sound = await coming
                if at + 1 < len(pieces):
                    coming = asyncio.ensure_future(made(pieces[at + 1]))
                self._at, self._begun, self._length = at, time.monotonic(), sound.seconds
                await play(self._config, sound)
            self._at, self._begun = len(pieces), 0.0
        finally:
            coming.cancel()
            await asyncio.wait({coming})

    def _mark(self) -> None:
        """Keep where an answer was cut, for the model."""
        if self._at >= len(self._pieces):
            return
        piece, share = self._pieces[self._at], 0.0
        if self._begun and self._length:
            share = min(1.0, (time.monotonic() - self._begun) / self._length)
        part = piece[: int(len(piece) * share)]
        if share < 1 and " " in piece:
            part = part[: part.rfind(" ") + 1]  # whole words
        heard = " ".join([*self._pieces[: self._at], part]).strip()
        tail = heard if len(heard) <= _TAIL else f"…{heard[-_TAIL:]}"
        where = f"behind “{tail}”; the person did not hear the rest" if heard else "before a word of it was heard"
        self._cut = f"Your answer was being read aloud, and was cut off {where}."

    async def _stop(self) -> None:
        if (task := self._round) is None or task.done() or task is asyncio.current_task():
            return
        task.cancel()
        await asyncio.wait({task})


def talk_of(ctx: PluginContext) -> Talk:
    """The one of this kernel."""
    talk = ctx.state.get("talk")
    if not isinstance(talk, Talk):
        talk = ctx.state["talk"] = Talk(ctx)
    return talk


class Talks(Jobs):
    """The spoken conversation, as whoever shows what runs beside one sees it; the key that stops ends what it does."""

    name = "talk"

    def __init__(self, talk: Talk) -> None:
        self._talk = talk

    async def running(self, session: Session) -> Sequence[Job]:
        """It, while it is on."""
        if not self._talk.of(session.id):
            return []
        job = Job(id="1", kind="other", title="spoken conversation", since=self._talk.since, state=self._talk.state)
        return [job]

    async def stop(self, session: Session, job: str) -> bool:
        """End what is being said; where nothing is, the conversation by voice."""
        if job != "1" or not self._talk.of(session.id):
            return False
        await self._talk.key()
        return True
