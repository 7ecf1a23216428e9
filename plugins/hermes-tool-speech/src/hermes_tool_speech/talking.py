"""``/talk``: what a person says into the microphone of this machine is what they typed. Silence ends it.

With ``on`` the answer is said, and then it is listened again: see ``conversing``.

Only a person begins it, and nothing listens at any other time. The sound is kept nowhere.
"""

import io
import wave
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Blob, Choice, Message, Session, SlashCommand, Text
from hermes_tool_speech.config import Config
from hermes_tool_speech.detector import BLOCK, RATE, Detector, level
from hermes_tool_speech.microphone import microphone
from hermes_tool_speech.ways import hearing

__all__ = ["listened", "talk_command"]

_LONGEST = 120.0  # seconds of speech
_BEGIN = 10.0  # seconds in which it has to begin
_BEFORE = 10  # blocks before the first words, so that none loses its begin
_AT_ONCE = 3  # blocks of speech in a row: a click of a key is none
_WORDS = {"on": "answers are spoken, and you are heard again", "off": "end that"}


def talk_command(ctx: PluginContext) -> SlashCommand:
    """The command."""

    async def run(session: Session, rest: str) -> str | Message:
        from hermes_tool_speech.conversing import talk_of

        talk, wanted = talk_of(ctx), rest.strip().casefold()
        if wanted not in ("", *_WORDS):
            raise UserError(f"/talk knows {', '.join(_WORDS)}, and not {wanted[:40]!r}.")
        if wanted == "off":
            was = talk.of(session.id)
            await talk.end()
            return "Answers are not spoken any more." if was else "No conversation is spoken here."
        if wanted == "on":
            message = await talk.begin(session)
            ctx.state["talked"] = {session.id: "".join(one.text for one in message.parts if isinstance(one, Text))}
            return message
        if talk.of(session.id):
            await talk.rest()
        config = ctx.config if isinstance(ctx.config, Config) else Config()
        way = hearing(ctx)
        async with aclosing(microphone(config)) as blocks:
            sound = await listened(blocks, config)
        said = (await way.hear(Blob(media_type="audio/wav", data=sound, name="said.wav"), session)).strip()
        if not said:
            raise UserError("No words were understood.", hint="Say it again, nearer to the microphone.")
        ctx.state["talked"] = {session.id: said}  # of whoever has the one microphone
        return Message(role="user", parts=(Text(text=said),))

    async def options(_session: Session, rest: str) -> Sequence[Choice]:
        return [Choice(name, what) for name, what in _WORDS.items() if name.startswith(rest.strip().casefold())]

    return SlashCommand(name="talk", run=run, options=options)


async def listened(blocks: AsyncGenerator[bytes, None], config: Config) -> bytes:
    """What was said, as a WAV file: from its first words until the silence behind them. Raises UserError."""
    kept, loud, quiet, began = list[bytes](), 0, 0.0, False
    length, heard, detector = BLOCK, 0.0, Detector(config)
    async for block in blocks:
        heard += length
        kept.append(block)
        is_loud = detector.heard(block) and level(block) >= config.threshold
        if not began:
            loud = loud + 1 if is_loud else 0
            began = loud >= _AT_ONCE
            if not began:
                del kept[: max(0, len(kept) - _BEFORE - _AT_ONCE)]
            if heard > _BEGIN and not began:
                break
            continue
        quiet = 0.0 if is_loud else quiet + length
        if quiet >= config.silence or len(kept) * length >= _LONGEST:
            break
    if not began:
        raise UserError("Nothing was heard.", hint="Is the microphone open? tools.speech.threshold says what is loud.")
    made = io.BytesIO()
    with wave.open(made, "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(b"".join(kept))
    return made.getvalue()
