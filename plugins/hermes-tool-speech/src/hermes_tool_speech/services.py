"""Services as rows of ``services.toml``: how each is asked, and where in its answer the sound or the text is."""

import json
import os
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from attrs import field

from hermes_core.context import PluginContext, UrlRules
from hermes_core.errors import ToolError, UserError
from hermes_core.types import Blob, Session
from hermes_core.values import frozen
from hermes_tool_speech.config import Config
from hermes_tool_speech.programs import endings
from hermes_tool_speech.ways import LARGEST, Way, bytes_of

__all__ = ["Row", "Service", "services"]


@frozen(kw_only=True)
class Row:
    """One service. ``speak`` and ``hear`` are how it is asked for each; empty: it does not do that."""

    title: str
    key: str
    base: str
    headers: Mapping[str, str]
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

    async def speak(self, text: str, session: Session | None = None) -> Blob:
        """Say a text aloud."""
        how = self._row.speak
        if not how:
            return await super().speak(text)
        body = json.dumps(_filled(how["json"], self._names(how, text=text))).encode()
        answer = await self._ask(how, body, "application/json")
        sound = _decoded(self.name, _inside(self.name, answer, how), how) if "answer" in how else answer
        kind = str(how["kind"])
        return Blob(media_type=kind, data=sound, name=f"speech{endings[kind]}")

    async def hear(self, sound: Blob, session: Session | None = None) -> str:
        """Write down a sound."""
        how, kind = self._row.hear, sound.media_type.partition(";")[0].strip()
        if not how:
            return await super().hear(sound)
        body = bytes_of(sound)
        if "file" in how:
            form = _filled(how.get("form", {}), self._names(how))
            body, kind = _multipart(form, how["file"], f"sound{endings.get(kind, '.bin')}", kind, body)
        return str(_inside(self.name, await self._ask(how, body, kind), how)).strip()

    def _names(self, how: Mapping[str, Any], **more: str) -> dict[str, str]:
        config = self._config
        return {
            "voice": config.voice or str(how.get("voice", "")),
            "model": config.model or str(how.get("model", "")),
            "language": config.language or str(how.get("language", "")),
            **more,
        }

    async def _ask(self, how: Mapping[str, Any], body: bytes, kind: str) -> bytes:
        """What is answered. Raises UserError, ToolError; no key is in their words."""
        from hermes_tool_kit.fetching import Order, fetch

        row, key = self._row, self._ctx.secrets.get(self._row.key)
        if not key:
            raise UserError(
                f"{row.title} needs the secret {row.key}.", hint=f"Put {row.key}=… into the file .env of Hermes' home."
            )
        base = self._config.service_url.rstrip("/") or row.base
        names = {name: quote(value, safe="") for name, value in self._names(how).items()}
        path, _, query = str(how["path"]).partition("?")
        kept = [part for part in query.split("&") if part and not _filled(part, names).endswith("=")]
        url = base + _filled(path, names) + (f"?{_filled('&'.join(kept), names)}" if kept else "")
        headers = {name: _filled(value, {"key": key}) for name, value in row.headers.items()}
        rules = UrlRules(allow_private=True) if base != row.base else UrlRules()  # a person set the address
        order = Order("POST", {**headers, "Content-Type": kind or "application/octet-stream"}, body)
        answer = await fetch(url, rules, order=order, limit=LARGEST * 3, seconds=float(self._config.seconds))
        if answer.status in (401, 403):
            raise UserError(
                f"{row.title} does not take the key in {row.key}.",
                hint=f"Put {row.key}=… into the file .env of Hermes' home.",
            )
        if not 200 <= answer.status < 300:
            raise ToolError(f"{row.title} answered HTTP {answer.status}.", retry=answer.status in (429, 500, 502, 503))
        if answer.cut or not answer.body:
            raise ToolError(f"{row.title} answered nothing whole.")
        return answer.body


def _filled(value: Any, names: Mapping[str, str]) -> Any:
    """A template with its names put in; what is empty then is left out of mappings."""
    if isinstance(value, str):
        for name, text in names.items():
            if value == f"{{{name}}}":
                return text
            value = value.replace(f"{{{name}}}", text)
        return value
    if isinstance(value, dict):
        made = {key: _filled(one, names) for key, one in value.items()}
        return {key: one for key, one in made.items() if one != ""}
    return [_filled(one, names) for one in value] if isinstance(value, list) else value


def _inside(name: str, answer: bytes, how: Mapping[str, Any]) -> Any:
    """What stands in an answer where the row says. Raises ToolError."""
    try:
        found = json.loads(answer)
        for step in str(how["answer"]).split("."):
            found = found[int(step)] if isinstance(found, list) else found[step]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        raise ToolError(f"{name} answered what cannot be read.", retry=False) from None
    return found


def _decoded(name: str, text: Any, how: Mapping[str, Any]) -> bytes:
    """The sound that a text is. Raises ToolError."""
    import base64
    import binascii

    code = str(how.get("code", "base64"))
    try:
        if code == "hex":
            return bytes.fromhex(text)
        data = base64.b64decode(text, validate=True)
    except (ValueError, TypeError, binascii.Error):
        raise ToolError(f"{name} answered what is no sound.", retry=False) from None
    return _wav(data, int(code.removeprefix("pcm"))) if code.startswith("pcm") else data


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


def _multipart(form: Mapping[str, str], name: str, file: str, kind: str, data: bytes) -> tuple[bytes, str]:
    mark = os.urandom(16).hex()
    parts = [
        f'--{mark}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
        for key, value in form.items()
    ]
    head = (
        f'--{mark}\r\nContent-Disposition: form-data; name="{name}"; filename="{file}"\r\nContent-Type: {kind}\r\n\r\n'
    )
    body = b"".join([*parts, head.encode(), data, f"\r\n--{mark}--\r\n".encode()])
    return body, f"multipart/form-data; boundary={mark}"
