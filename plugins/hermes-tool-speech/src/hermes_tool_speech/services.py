"""Services as rows of ``services.toml``: how each is asked, and where in its answer the sound or the text is."""

import json
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from attrs import field

from hermes_core.context import PluginContext
from hermes_core.types import Blob, Session
from hermes_core.values import frozen
from hermes_tool_kit.services import Asking, address, decoded, filled, inside, multipart
from hermes_tool_speech.config import Config
from hermes_tool_speech.programs import endings
from hermes_tool_speech.ways import LARGEST, Way, bytes_of, must_sound

__all__ = ["Row", "Service", "services"]


@frozen(kw_only=True)
class Row:
    """One service. ``speak`` and ``hear`` are how it is asked for each; empty: it does not do that."""

    title: str
    key: str
    base: str
    headers: Mapping[str, str]
    checked: str  # what its requests and answers were compared with
    speak: Mapping[str, Any] = field(factory=dict)
    hear: Mapping[str, Any] = field(factory=dict)

    def does(self, verb: str) -> bool:
        """Whether it speaks, or hears."""
        return bool(self.speak if verb == "speak" else self.hear)


@cache
def services() -> Mapping[str, Row]:
    """All rows by name."""
    text = Path(__file__).with_name("services.toml").read_text("utf-8")
    return {name: Row(**row) for name, row in tomllib.loads(text).items()}


class Service(Way):
    """One service, asked with the person's key."""

    def __init__(self, ctx: PluginContext, config: Config, row: Row) -> None:
        self._ctx, self._config, self._row, self.name = ctx, config, row, row.title
        self._asking = Asking(
            title=row.title, secret=row.key, base=row.base, headers=row.headers, instead=config.service_url
        )

    async def speak(self, text: str, session: Session | None = None) -> Blob:
        """Say a text aloud."""
        how = self._row.speak
        if not how:
            return await super().speak(text)
        body = json.dumps(filled(how["json"], self._names(how, text=text))).encode()
        sound = await self._ask(how, body, "application/json")
        if "answer" in how:
            code = str(how["code"])
            sound = decoded(self.name, inside(self.name, sound, how["answer"]), "base64" if "pcm" in code else code)
            sound = _wav(sound, int(code.removeprefix("pcm"))) if "pcm" in code else sound
        kind = str(how["kind"])
        return must_sound(self.name, Blob(media_type=kind, data=sound, name=f"speech{endings[kind]}"))

    async def hear(self, sound: Blob, session: Session | None = None) -> str:
        """Write down a sound."""
        how, kind = self._row.hear, sound.media_type.partition(";")[0].strip()
        if not how:
            return await super().hear(sound)
        body = bytes_of(sound)
        if "file" in how:
            form = filled(how.get("form", {}), self._names(how))
            body, kind = multipart(form, how["file"], f"sound{endings.get(kind, '.bin')}", kind, body)
        return str(inside(self.name, await self._ask(how, body, kind), how["answer"])).strip()

    def _names(self, how: Mapping[str, Any], **more: str) -> dict[str, str]:
        config = self._config
        return {
            "voice": config.voice or str(how.get("voice", "")),
            "model": config.model or str(how.get("model", "")),
            "language": config.language or str(how.get("language", "")),
            **more,
        }

    async def _ask(self, how: Mapping[str, Any], body: bytes, kind: str) -> bytes:
        url, seconds = address(self._asking.root, how["path"], self._names(how)), float(self._config.seconds)
        return await self._asking.ask(self._ctx, "POST", url, body, kind, limit=LARGEST * 3, seconds=seconds)


def _wav(samples: bytes, rate: int) -> bytes:
    """Bare samples of 16 bits, one channel, as a file."""
    import io
    import wave

    made = io.BytesIO()
    with wave.open(made, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples)
    return made.getvalue()
