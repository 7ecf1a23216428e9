"""What a microphone of this machine gives: a device, a program that records, or a file in its place.

It is open only as long as somebody asks for more. The sound is kept nowhere.
"""

import array
import asyncio
import math
import os
import shutil
import signal
import wave
from collections.abc import AsyncGenerator
from contextlib import suppress
from pathlib import Path
from typing import Any

from hermes_core.environment import for_commands
from hermes_core.errors import HermesError, UserError
from hermes_tool_speech.config import Config
from hermes_tool_speech.detector import BLOCK, BYTES, RATE, SAMPLES
from hermes_tool_speech.playing import WITH_US, play, tone

__all__ = ["microphone"]

_DEAD = 5.0  # seconds after which a microphone that gives nothing, not even silence, is closed
_INSTALL = (
    "pip install 'hermes-tool-speech[talk]', and apt install libportaudio2 on Linux; or name a program that records: "
    "tools.speech.recorder."
)
_CLOSED = "The microphone is closed: nothing comes from it."
_SAID = 10_000  # bytes of what a program says that are read


def microphone(config: Config, *, sign: bool = True, paced: bool = False) -> AsyncGenerator[bytes, None]:
    """Blocks of samples from what is set; it is closed when nobody asks for more. Raises UserError.

    ``sign``: a tone says that it listens. ``paced``: a file is heard as slowly as if somebody spoke.
    """
    if config.microphone.lower().endswith(".wav"):
        return _from_file(Path(config.microphone).expanduser(), paced=paced)
    if config.recorder:
        return _from_program(config, sign=sign)
    return _from_device(config.microphone, sign=sign)


async def _from_file(path: Path, *, paced: bool) -> AsyncGenerator[bytes, None]:
    try:
        with wave.open(str(path), "rb") as file:
            form = (file.getnchannels(), file.getsampwidth(), file.getframerate())
            if form != (1, 2, RATE):
                raise UserError(f"{path} is no sound of one channel, 16 bits and {RATE:,} samples a second.")
            while block := await asyncio.to_thread(file.readframes, SAMPLES):
                yield block
                if paced:
                    await asyncio.sleep(BLOCK)
    except (OSError, EOFError, wave.Error) as error:
        raise UserError(f"The microphone cannot be used: {path}: {error}.") from None


async def _from_program(config: Config, *, sign: bool) -> AsyncGenerator[bytes, None]:
    """What a program writes; it ends with whoever listens, and with Hermes."""
    words, pipe = config.recorder, asyncio.subprocess.PIPE
    first = WITH_US if shutil.which("setpriv") else ()
    if not shutil.which(words[0]):
        hint = "Install it, or set tools.speech.recorder."
        raise UserError(f"The microphone cannot be used: there is no program {words[0]} on this machine.", hint=hint)
    if sign:
        with suppress(HermesError):  # without a loudspeaker it listens all the same
            await play(config, tone(880))
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *first, *words, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe, env=for_commands(),
            start_new_session=True,
        )
    )  # fmt: skip
    process: asyncio.subprocess.Process | None = None
    try:
        process = await asyncio.shield(starting)
        assert process.stdout
        while True:
            async with asyncio.timeout(_DEAD):
                block = await process.stdout.readexactly(BYTES)
            yield block
    except TimeoutError:
        raise UserError(_CLOSED, hint=f"{words[0]} gives no sound.") from None
    except asyncio.IncompleteReadError:
        said = await _last_line(process.stderr) if process and process.stderr else ""
        raise UserError(f"The microphone cannot be used: {words[0]} ended{said}.") from None
    except OSError as error:
        raise UserError(f"The microphone cannot be used: {words[0]}: {error.strerror}.") from None
    finally:
        with suppress(OSError):
            process = process or await starting  # cancelled as it began
        if process:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


async def _last_line(errors: asyncio.StreamReader) -> str:
    """What a program that ended said last."""
    with suppress(TimeoutError):
        async with asyncio.timeout(1):
            lines = (await errors.read(_SAID)).decode("utf-8", "replace").strip().splitlines()
            return f": {lines[-1][:200]}" if lines else ""
    return ""


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
            samplerate=RATE, blocksize=SAMPLES, channels=1, dtype="int16", device=name or None, callback=taken
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
                raise UserError(_CLOSED) from None
            yield block


def _beep(sounddevice: Any) -> None:
    """Say by a short tone that it listens; without a loudspeaker it listens all the same."""
    tone = array.array("h", (int(6_000 * math.sin(at * math.tau * 880 / RATE)) for at in range(RATE // 8)))
    form: dict[str, Any] = {"samplerate": RATE, "channels": 1, "dtype": "int16"}
    with suppress(sounddevice.PortAudioError, ValueError), sounddevice.RawOutputStream(**form) as out:
        out.write(tone.tobytes())
