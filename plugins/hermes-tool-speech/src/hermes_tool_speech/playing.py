"""What is said aloud on this machine: sounds as plain samples, and who plays them. What plays ends when it is told to.

Nobody but this module decides what a player gets: a sound that is no plain one is decoded behind the wall first.
"""

import array
import asyncio
import io
import math
import os
import shutil
import signal
import tempfile
import threading
import wave
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from hermes_core.context import PluginContext
from hermes_core.environment import for_commands
from hermes_core.errors import ToolError, UserError
from hermes_core.types import Blob
from hermes_core.values import frozen
from hermes_tool_speech.config import Config
from hermes_tool_speech.ways import bytes_of

__all__ = ["WITH_US", "Sound", "plain", "play", "player_missing", "tone"]

_RATE = 24_000  # samples a second, of what is decoded
_LONGEST = 600  # seconds
_TO_WAV = ("ffmpeg", "-v", "error", "-nostdin", "-y", "-i", "{input}", "-vn", "-t", str(_LONGEST), "-ac", "1",
           "-ar", str(_RATE), "-c:a", "pcm_s16le", "-f", "wav", "{output}")  # fmt: skip
_STEP = 0.05  # seconds that a loudspeaker is given at once
_INSTALL = "pip install 'hermes-tool-speech[talk]', or name a program: tools.speech.player."
WITH_US = ("setpriv", "--pdeathsig", "KILL", "--")  # by which a program ends at once when Hermes is killed


@frozen(kw_only=True)
class Sound:
    """Samples of 16 bits, one channel or more."""

    rate: int
    channels: int
    samples: bytes

    @property
    def seconds(self) -> float:
        """How long it takes."""
        return len(self.samples) / (2 * self.channels * self.rate)

    def wav(self) -> bytes:
        """The same as a file."""
        made = io.BytesIO()
        with wave.open(made, "wb") as file:
            file.setparams((self.channels, 2, self.rate, 0, "NONE", ""))
            file.writeframes(self.samples)
        return made.getvalue()


def tone(*hertz: int) -> Sound:
    """A short sign for the ear: one or more pitches, one after another."""
    length, samples = _RATE // 9, array.array("h")
    for pitch in hertz:
        samples.extend(int(6_000 * math.sin(at * math.tau * pitch / _RATE)) for at in range(length))
    return Sound(rate=_RATE, channels=1, samples=samples.tobytes())


async def plain(ctx: PluginContext, blob: Blob) -> Sound:
    """A sound of whoever speaks, as samples. Raises HermesError."""
    data = bytes_of(blob)
    if (sound := await asyncio.to_thread(_samples, data)) is not None:
        return sound
    if not shutil.which("ffmpeg"):
        kind = blob.media_type.partition(";")[0]
        raise UserError(f"What was said is {kind}, which nobody here can play.", hint="apt install ffmpeg")
    from hermes_tool_speech.programs import run_in_folder

    most = _LONGEST * _RATE * 2 + 10_000
    made = await run_in_folder(ctx, _TO_WAV, {}, {"input": ("input.bin", data)}, "out.wav", seconds=60.0, largest=most)
    if (sound := await asyncio.to_thread(_samples, made)) is None:
        raise ToolError("What was said is no sound.", retry=False)
    return sound


def _samples(data: bytes) -> Sound | None:
    """What a plain file of samples holds; None where it is none."""
    try:
        with wave.open(io.BytesIO(data)) as file:
            if file.getsampwidth() != 2 or not 1 <= file.getnchannels() <= 2 or file.getframerate() < 4_000:
                return None
            frames = file.readframes(min(file.getnframes(), len(data)))
            return Sound(rate=file.getframerate(), channels=file.getnchannels(), samples=frames)
    except (EOFError, wave.Error):
        return None


def player_missing(config: Config) -> str:
    """Why nothing can be played here; empty where it can."""
    if config.player:
        return "" if shutil.which(config.player[0]) else f"There is no program {config.player[0]} on this machine."
    try:
        import sounddevice  # type: ignore[import-untyped]  # noqa: F401
    except (ImportError, OSError) as error:  # without PortAudio it raises OSError
        return f"The loudspeaker cannot be used: {error}. {_INSTALL}"
    return ""


async def play(config: Config, sound: Sound) -> None:
    """Play a sound to its end; what is cancelled is silent at once. Raises HermesError."""
    if why := player_missing(config):
        raise UserError(why)
    if config.player:
        await _by_program(config.player, sound)
    else:
        await _by_device(sound)


async def _by_program(words: Sequence[str], sound: Sound) -> None:
    # Made and filled without a thread: what is cancelled meanwhile would leave the thread's work behind.
    with tempfile.TemporaryDirectory(prefix="hermes-speech-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "said.wav"
        path.write_bytes(sound.wav())
        argv = [word.replace("{input}", str(path)) for word in words]
        with (Path(folder) / "errors").open("w+b") as errors:
            code = await _run(argv, errors, sound.seconds + 20)
            errors.seek(0)
            said = errors.read(10_000).decode("utf-8", "replace").strip().splitlines()[-1:]
        if code:
            raise ToolError(f"{words[0]} failed: {said[0][:200] if said else f'exit {code}'}", retry=False)


async def _run(argv: Sequence[str], errors: IO[bytes], seconds: float) -> int:
    """Run a program to its end; what is cancelled takes all that it started along. Raises ToolError."""
    null, first = asyncio.subprocess.DEVNULL, WITH_US if shutil.which("setpriv") else ()
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *first, *argv, stdin=null, stdout=null, stderr=errors, env=for_commands(), start_new_session=True
        )
    )
    process: asyncio.subprocess.Process | None = None
    try:
        async with asyncio.timeout(seconds):
            process = await asyncio.shield(starting)
            return await process.wait()
    except TimeoutError:
        raise ToolError(f"{argv[0]} did not end.", retry=False) from None
    except OSError as error:
        raise ToolError(f"{argv[0]} cannot be started: {error.strerror}.", retry=False) from None
    finally:
        with suppress(OSError):
            process = process or await starting  # cancelled as it began
        if process and process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


async def _by_device(sound: Sound) -> None:
    import sounddevice

    silent = threading.Event()

    def played() -> None:
        step = int(sound.rate * _STEP) * 2 * sound.channels
        form: dict[str, Any] = {"samplerate": sound.rate, "channels": sound.channels, "dtype": "int16"}
        with sounddevice.RawOutputStream(**form) as out:
            for at in range(0, len(sound.samples), step):
                if silent.is_set():
                    out.abort()
                    return
                out.write(sound.samples[at : at + step])

    work = asyncio.ensure_future(asyncio.to_thread(played))
    try:
        await asyncio.shield(work)
    except (sounddevice.PortAudioError, ValueError) as error:
        why = str(error).splitlines()[0]
        raise UserError(
            f"The loudspeaker cannot be used: {why}.", hint="tools.speech.player names a program."
        ) from None
    finally:
        silent.set()
        with suppress(asyncio.CancelledError, Exception):
            await work
