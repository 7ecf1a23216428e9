"""Who speaks and who hears: a model, a service, a program, or a library, each behind the same two questions."""

from abc import ABC, abstractmethod
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError, UserError
from hermes_core.types import Blob, MediaRequest, Session
from hermes_tool_speech.config import Config

__all__ = ["LARGEST", "LONGEST", "Way", "bytes_of", "hearing", "kind_of", "must_sound", "speaking"]

LARGEST = 25_000_000  # bytes of a sound
LONGEST = 4_000  # characters that are spoken
_KINDS = {
    b"RIFF": "audio/wav",
    b"OggS": "audio/ogg",
    b"fLaC": "audio/flac",
    b"ID3": "audio/mpeg",
    b"\xff": "audio/mpeg",
}


class Way(ABC):
    """One that speaks, hears, or both. Raises UserError for what it cannot do, and HermesError where it fails."""

    name: str

    async def speak(self, text: str, session: Session | None = None) -> Blob:
        """Say a text aloud."""
        raise UserError(f"{self.name} does not speak.", hint="Set tools.speech.speak_with.")

    async def hear(self, sound: Blob, session: Session | None = None) -> str:
        """Write down what is said in a sound."""
        raise UserError(f"{self.name} does not hear.", hint="Set tools.speech.hear_with.")


class Models(Way):
    """The model that the person set, or that of the conversation."""

    name = "the model"

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx, self._config = ctx, _config(ctx)

    async def speak(self, text: str, session: Session | None = None) -> Blob:
        """By ``auxiliary.speak``."""
        options = {"voice": self._config.voice} if self._config.voice else {}
        asked = MediaRequest(texts=(text,), options=options)
        return must_sound(self.name, (await self._ctx.llm.media("speak", asked, session=session)).blobs[0])

    async def hear(self, sound: Blob, session: Session | None = None) -> str:
        """By ``auxiliary.transcribe``."""
        options = {"language": self._config.language} if self._config.language else {}
        heard = await self._ctx.llm.media("transcribe", MediaRequest(blobs=(sound,), options=options), session=session)
        return heard.texts[0] if heard.texts else ""


class Local(Way):
    """What is on this machine."""

    @abstractmethod
    def missing(self) -> str:
        """What is not there, and how to get it; empty where all is."""


def speaking(ctx: PluginContext) -> Way:
    """Who speaks, as it is set. Raises UserError."""
    return _way(ctx, _config(ctx).speak_with, "speak")


def hearing(ctx: PluginContext) -> Way:
    """Who hears, as it is set. Raises UserError."""
    return _way(ctx, _config(ctx).hear_with, "hear")


def _config(ctx: PluginContext) -> Config:
    return ctx.config if isinstance(ctx.config, Config) else Config()


def _way(ctx: PluginContext, name: str, verb: str) -> Way:
    config = _config(ctx)
    if not name:
        return Models(ctx)
    if name == "faster-whisper":
        from hermes_tool_speech.whisper import Whisper

        return Whisper(ctx, config)
    from hermes_tool_speech.programs import Program, rows

    if name in (known := rows(config)):
        return Program(ctx, config, name, known[name])
    from hermes_tool_speech.services import Service, services

    if name in services():
        return Service(ctx, config, services()[name])
    can = [one for one, row in known.items() if verb in row] + [
        one for one, row in services().items() if row.does(verb)
    ]
    can += ["faster-whisper"] if verb == "hear" else []
    raise UserError(
        f"tools.speech.{verb}_with names {name!r}, which is none.", hint=f"There is: {', '.join(sorted(can))}."
    )


def kind_of(data: bytes) -> str:
    """The media type of a sound by how it begins; empty where no sign tells."""
    return next((kind for sign, kind in _KINDS.items() if data.startswith(sign)), "")


def must_sound(name: str, made: Blob) -> Blob:
    """What somebody made who was to speak. Raises ToolError where it is a text, such as an error, or a picture."""
    begin = bytes_of(made)[:200]
    if kind_of(begin):
        return made
    if made.media_type.startswith("audio/") and (b"\0" in begin or not _is_text(begin)):
        return made
    raise ToolError(f"{name} was to speak, and gave no sound.", retry=False)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start > len(data) - 4  # cut in a character
    return True


def bytes_of(sound: Blob) -> bytes:
    """What is in a sound. Raises UserError for one that is too large, or gone."""
    try:
        data = sound.data if sound.data is not None else Path(sound.path or "").read_bytes()
    except OSError as error:
        raise UserError(f"The sound cannot be read: {error.strerror}.") from None
    if not 0 < len(data) <= LARGEST:
        raise UserError(f"The sound has {len(data):,} bytes; from 1 to {LARGEST:,} are heard.")
    return data
