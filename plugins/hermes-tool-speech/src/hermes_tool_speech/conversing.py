"""``/talk on``: a conversation by voice in a terminal. An answer is said as it comes, and then it is listened again.

A key, a line that is typed, or speech ends what is being said at once, and the turn that says it; the words that come
are heard. The next message tells the model where it was cut. There is one microphone, so one conversation of a Hermes
is spoken.
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, UserError
from hermes_core.kinds import Jobs
from hermes_core.types import Blob, Job, Message, Session, Text, TurnOrder
from hermes_tool_speech.config import Config
from hermes_tool_speech.ears import Ears, noticed
from hermes_tool_speech.microphone import microphone
from hermes_tool_speech.playing import Sound, plain, play, player_missing, tone
from hermes_tool_speech.reading import Reading
from hermes_tool_speech.talking import listened
from hermes_tool_speech.ways import hearing, speaking

__all__ = ["Talk", "Talks", "talk_of"]

_AGAIN = 2  # times that it listens again where no words were understood
_STARTS, _ENDS = (660, 880), (440, 330)  # tones: it listens; it does not any more
_BRIEF = "(A spoken conversation has begun: what you answer is read aloud. Be brief, and use no tables.)"


class Talk:
    """The conversation that is spoken now. ``begin`` and what it does are called by hooks and by ``/talk``."""

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx
        self._config = ctx.config if isinstance(ctx.config, Config) else Config()
        self.session_id, self.state, self.since = "", "", 0.0
        self.said = ""  # last, for the person to see
        self._ended: dict[str, str] = {}  # why one ended, by its session, for the person to see
        self._reading = Reading("")  # what is said of the turn that runs, or ran last
        self._round: asyncio.Task[None] | None = None
        self._hush = asyncio.Event()
        self._told = False  # the model knows that it is heard and not read
        self._cut = ""

    def of(self, session_id: str) -> bool:
        """Whether a session is spoken."""
        return bool(session_id) and self.session_id == session_id

    def ended(self, session_id: str) -> str:
        """Why the one of a session ended, once; empty where a person ended it, or there was none."""
        return self._ended.pop(session_id, "")

    # --- what a person does -----------------------------------------------------------------------------------------

    async def begin(self, session: Session) -> Message:
        """Begin, or go on: listen, and return what was said. Raises HermesError where that cannot be."""
        await self.end()
        speaking(self._ctx)
        if why := player_missing(self._config):
            raise UserError(why)
        if not (said := await self._listen(self._ears(), session)):
            raise UserError("No words were understood.", hint="Say it again, nearer to the microphone.")
        self.session_id, self.since, self.state, self._told = session.id, time.time(), "answering", False
        self.ended(session.id)
        return Message(role="user", parts=(Text(text=said),))

    async def end(self) -> None:
        """End it; nothing is said or heard any more when this returns."""
        self.session_id, self.state = "", ""
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

    def words(self, session: Session, text: str, *, outside: bool, whole: bool = False) -> None:
        """Say what has come of a reply, as far as it is whole sentences; it may repeat what is from ``outside``."""
        reading = self._of_turn(session)
        if outside:
            reading.outside.set()
        reading.feed(text, whole=whole)
        if reading.waits and (self._round is None or self._round.done()):
            self._begin_round(session)

    async def rest(self) -> None:
        """Be silent and deaf while something else goes on, and keep where an answer was cut."""
        if self.state == "speaking":
            self._cut = self._reading.cut()
        self._reading.skip()
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
        """Say the rest of it, and listen; what a key stopped, or an error, is said no more."""
        (reading := self._of_turn(session)).end()
        if self._round is None or self._round.done():
            if not reading.left:  # else what the person said then waits already
                self._begin_round(session)
        elif not done and self.state != "listening":
            self._hush.set()

    def _of_turn(self, session: Session) -> Reading:
        if self._reading.turn != (session.turn or ""):
            self._reading = Reading(session.turn or "")
        return self._reading

    # --- one round --------------------------------------------------------------------------------------------------

    def _begin_round(self, session: Session) -> None:
        self._hush = asyncio.Event()
        self._round = asyncio.ensure_future(self._go_on(session, self._reading))

    async def _go_on(self, session: Session, reading: Reading) -> None:
        ears, why = None, ""
        try:
            if self._config.barge_in and not (reading.over and not reading.waits):
                ears = self._ears()
            first = await self._say(reading, session, ears)
            ears = ears if ears and not ears.closed else self._ears()
            said = await self._listen(ears, session, first)
            for _ in range(_AGAIN):  # a cough has no words
                if said:
                    break
                said = await self._listen(ears := self._ears(), session)
            if not said:
                raise UserError("No words were understood.", hint="Say it again, nearer to the microphone.")
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
            await self._give_up(session, why)

    def _ears(self) -> Ears:
        return Ears(microphone(self._config, sign=False, paced=True))

    async def _give_up(self, session: Session, why: str) -> None:
        self._ctx.log.warning("a spoken conversation ended: %s", why)
        self.session_id, self.state, self._ended = "", "", {session.id: why}
        with suppress(HermesError):
            await play(self._config, tone(*_ENDS))

    async def _listen(self, ears: Ears, session: Session, first: Sequence[bytes] = ()) -> str:
        """What is said now, empty without words; ``first`` is its begin, where it was heard already."""
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
        said = await hearing(self._ctx).hear(Blob(media_type="audio/wav", data=sound, name="said.wav"), session)
        return said.strip()

    async def _say(self, reading: Reading, session: Session, ears: Ears | None) -> Sequence[bytes]:
        """Say an answer as it comes; what was heard above it, where speech cut it off."""
        self._cut = ""
        speech = asyncio.ensure_future(self._speak(reading, session))
        key = asyncio.ensure_future(self._hush.wait())
        # A loudspeaker may say orders from outside into an open microphone, where they would be the person's.
        outside = asyncio.ensure_future(reading.outside.wait())
        above = asyncio.ensure_future(noticed(ears, self._config, lambda: reading.sounds)) if ears else None
        waits: set[asyncio.Future[Any]] = {speech, key, outside, *([above] if above else ())}
        try:
            while not (speech.done() or key.done() or (above and above.done())):
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                if outside.done() and outside in waits:
                    waits -= {outside}
                    if ears and above:
                        above.cancel()
                        await asyncio.wait({above})
                        waits, above = waits - {above}, None
                        await ears.close()
            if speech.done():
                speech.result()
                return ()
            self._cut = reading.cut()
            if not reading.over:
                reading.left = True
                await self._ctx.turns.interrupt(session.id, owner=session.owner)
            return above.result() if above and not key.done() else ()
        finally:
            for one in waits:
                one.cancel()
            await asyncio.wait(waits)

    async def _speak(self, reading: Reading, session: Session) -> None:
        """Say one piece after another as they come; the next is made while one is heard."""
        way = speaking(self._ctx)

        async def made() -> tuple[str, Sound] | None:
            piece = await reading.take()
            return (piece, await plain(self._ctx, await way.speak(piece, session))) if piece else None

        coming = asyncio.ensure_future(made())
        try:
            while taken := await coming:
                coming = asyncio.ensure_future(made())
                piece, sound = taken
                self.state = "speaking"
                reading.begin(piece, sound.seconds)
                await play(self._config, sound)
                reading.done()
        finally:
            coming.cancel()
            await asyncio.wait({coming})

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
