"""Hearing on this machine with faster-whisper and a model that lies in a folder. Nothing is ever downloaded.

A sound is decoded by ffmpeg behind the wall: its bytes are a stranger's, and the library would decode them in here.
"""

import asyncio
import io
import shutil
import wave
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError, UserError
from hermes_core.types import Blob, Session
from hermes_tool_speech.config import Config
from hermes_tool_speech.programs import endings, run_in_folder
from hermes_tool_speech.ways import Local, bytes_of

__all__ = ["Whisper"]

_TO_WAV = ("ffmpeg", "-v", "error", "-nostdin", "-y", "-i", "{input}", "-vn", "-t", "3600", "-ac", "1", "-ar", "16000",
           "-c:a", "pcm_s16le", "-f", "wav", "{output}")  # fmt: skip
_PLAIN = 3_600 * 32_000 + 10_000  # bytes of an hour


class Whisper(Local):
    """The model is loaded with the first sound and stays as long as this Hermes runs."""

    name = "faster-whisper"

    def __init__(self, ctx: PluginContext, config: Config) -> None:
        self._ctx, self._config = ctx, config
        self._folder = Path(config.whisper).expanduser() if config.whisper else None

    def missing(self) -> str:
        """The library, or the model."""
        if find_spec("faster_whisper") is None:
            return "faster-whisper is not installed: pip install 'hermes-tool-speech[whisper]'."
        if self._folder is None:
            return "No model for faster-whisper is set: tools.speech.whisper."
        if not shutil.which("ffmpeg"):
            return "faster-whisper needs ffmpeg here: apt install ffmpeg."
        gone = [name for name in ("model.bin", "tokenizer.json") if not (self._folder / name).is_file()]
        return f"{self._folder} holds no model for faster-whisper: it has no {gone[0]}." if gone else ""

    async def hear(self, sound: Blob, session: Session | None = None) -> str:
        """Write down a sound."""
        if why := self.missing():
            raise UserError(why, hint="A model is a folder with model.bin, config.json and tokenizer.json.")
        lock: asyncio.Lock = self._ctx.state.setdefault("whispers", asyncio.Lock())
        async with lock:  # one at a time: each takes all cores
            kind = sound.media_type.partition(";")[0].strip()
            given = {"input": (f"input{endings.get(kind, '.bin')}", bytes_of(sound))}
            plain = await run_in_folder(self._ctx, _TO_WAV, {}, given, "sound.wav", seconds=60.0, largest=_PLAIN)
            return await asyncio.to_thread(self._heard, plain)

    def _heard(self, plain: bytes) -> str:
        import numpy

        model = self._ctx.state.get("whisper")
        try:
            with wave.open(io.BytesIO(plain)) as file:
                samples = numpy.frombuffer(file.readframes(file.getnframes()), dtype="<i2")
            if model is None:
                model = self._ctx.state["whisper"] = self._loaded()
            found, _ = model.transcribe(samples.astype("float32") / 32768.0, language=self._config.language or None)
            return " ".join(one.text.strip() for one in found).strip()
        except (RuntimeError, ValueError, OSError, EOFError, wave.Error) as error:
            raise ToolError(f"faster-whisper could not hear it: {str(error)[:300]}", retry=False) from None

    def _loaded(self) -> Any:
        from faster_whisper import WhisperModel  # type: ignore[import-untyped]

        return WhisperModel(str(self._folder), device="cpu", compute_type="int8", local_files_only=True)
