"""``/talk``: what a person says into the microphone of this machine is what they typed. Silence ends it.

With ``on`` the answer is said, and then it is listened again: see ``conversing``.

Only a person begins it, and nothing listens at any other time. The sound is kept nowhere.
"""

import array
import asyncio
import io
import math
import wave
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Blob, Choice, Message, Session, SlashCommand, Text
from hermes_tool_speech.config import Config
from hermes_tool_speech.ways import hearing

__all__ = ["BLOCK", "RATE", "level", "listened", "microphone", "talk_command"]

RATE = 16_000  # samples a second
_BLOCK = 480  # samples of one look
BLOCK = _BLOCK / RATE  # seconds of it: 30 ms
_LONGEST = 120.0  # seconds of speech
_DEAD = 5.0  # seconds after which a microphone that gives nothing, not even silence, is closed
_BEGIN = 10.0  # seconds in which it has to begin
_BEFORE = 10  # blocks before the first loud one, so that no word loses its begin
_AT_ONCE = 3  # loud blocks in a row: a click of a key is no speech
_WORDS = {"on": "answers are spoken, and you are heard again", "off": "end that"}
_INSTALL = "pip install 'hermes-tool-speech[talk]', and apt install libportaudio2 on Linux."


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
            ctx.state["talked"] = message.parts[0].text if isinstance(message.parts[0], Text) else ""
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
        ctx.state["talked"] = said
        return Message(role="user", parts=(Text(text=said),))

    async def options(_session: Session, rest: str) -> Sequence[Choice]:
        return [Choice(name, what) for name, what in _WORDS.items() if name.startswith(rest.strip().casefold())]

    return SlashCommand(name="talk", run=run, options=options)


async def listened(blocks: AsyncGenerator[bytes, None], config: Config) -> bytes:
    """What was said, as a WAV file: from its first loud block until the silence behind it. Raises UserError."""
    kept, loud, quiet, began = list[bytes](), 0, 0.0, False
    length, heard = BLOCK, 0.0
    async for block in blocks:
        heard += length
        kept.append(block)
        is_loud = level(block) >= config.threshold
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


def level(block: bytes) -> float:
    """How loud samples of 16 bits are: the root of their mean square."""
    samples = array.array("h", block[: len(block) // 2 * 2])
    return float((sum(one * one for one in samples) / max(len(samples), 1)) ** 0.5)


def microphone(config: Config, *, sign: bool = True, paced: bool = False) -> AsyncGenerator[bytes, None]:
    """Blocks of samples from what is set; it is closed when nobody asks for more. Raises UserError.

    ``sign``: a tone says that it listens. ``paced``: a file is heard as slowly as if somebody spoke.
    """
    if config.microphone.lower().endswith(".wav"):
        return _from_file(Path(config.microphone).expanduser(), paced=paced)
    return _from_device(config.microphone, sign=sign)


async def _from_file(path: Path, *, paced: bool) -> AsyncGenerator[bytes, None]:
    try:
        with wave.open(str(path), "rb") as file:
            form = (file.getnchannels(), file.getsampwidth(), file.getframerate())
            if form != (1, 2, RATE):
                raise UserError(f"{path} is no sound of one channel, 16 bits and {RATE:,} samples a second.")
            while block := await asyncio.to_thread(file.readframes, _BLOCK):
                yield block
                if paced:
                    await asyncio.sleep(BLOCK)
    except (OSError, EOFError, wave.Error) as error:
        raise UserError(f"The microphone cannot be used: {path}: {error}.") from None


async def _from_device(name: str, *, sign: bool) -> AsyncGenerator[bytes, None]:
    try:
        import sounddevice  # type: ignore[import-untyped]
    except (ImportError, OSError) as error:  # without PortAudio it raises OSError
        raise UserError(f"The microphone cannot be used: {error}.", hint=_INSTALL) from None
    loop, come = asyncio.get_running_loop(), asyncio.Queue[bytes](maxsize=2_000)

    def put(data: bytes) -> None:
        if not come.full():
            come.put_nowait(data)

    def taken(data: Any, _count: int, _time: Any, _status: Any) -> None:
        loop.call_soon_threadsafe(put, bytes(data))

    def opened() -> Any:
        return sounddevice.RawInputStream(
            samplerate=RATE, blocksize=_BLOCK, channels=1, dtype="int16", device=name or None, callback=taken
        )

    try:
        stream = await asyncio.to_thread(opened)
    except (sounddevice.PortAudioError, ValueError) as error:
        why = str(error).splitlines()[0]
        hint = "Is one connected, and may programs use it? tools.speech.microphone names another."
        raise UserError(f"The microphone cannot be used: {why}.", hint=hint) from None
    with stream:
        if sign:
            await asyncio.to_thread(_beep, sounddevice)
        while not come.empty():  # what it heard of that
            come.get_nowait()
        while True:
            try:
                async with asyncio.timeout(_DEAD):
                    block = await come.get()
            except TimeoutError:
                raise UserError("The microphone is closed: nothing comes from it.") from None
            yield block


def _beep(sounddevice: Any) -> None:
    """Say by a short tone that it listens; without a loudspeaker it listens all the same."""
    tone = array.array("h", (int(6_000 * math.sin(at * math.tau * 880 / RATE)) for at in range(RATE // 8)))
    form: dict[str, Any] = {"samplerate": RATE, "channels": 1, "dtype": "int16"}
    with suppress(sounddevice.PortAudioError, ValueError), sounddevice.RawOutputStream(**form) as out:
        out.write(tone.tobytes())
