"""Content, both ways: what an editor sends becomes parts of a message, and parts become what it shows."""

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit

from hermes_acp_wire.peer import INVALID_PARAMS, RpcError
from hermes_core.types import Blob, Message, Part, Text

__all__ = ["blocks_of", "message_of", "text"]

JSON: TypeAlias = Any
_LARGEST = 10_000_000  # bytes of a picture that is shown


def text(words: str) -> JSON:
    """Return words as content."""
    return {"type": "text", "text": words}


def message_of(blocks: Sequence[Mapping[str, JSON]]) -> Message:
    """Return what the person said. Raises RpcError for what cannot be read."""
    parts = [part for block in blocks if (part := _part(block)) is not None]
    if not parts:
        raise RpcError(INVALID_PARAMS, "Nothing was said.")
    return Message(role="user", parts=tuple(parts))


def _part(block: Mapping[str, JSON]) -> Part | None:
    kind = block.get("type")
    if kind == "text":
        return Text(text=_text(block, "text"))
    if kind in ("image", "audio"):
        return Blob(media_type=_text(block, "mimeType"), data=_data(block, "data"))
    if kind == "resource_link":
        return Text(text=_link(_text(block, "uri"), str(block.get("title") or block.get("name") or "")))
    if kind == "resource":
        inner = block.get("resource")
        if not isinstance(inner, dict):
            raise RpcError(INVALID_PARAMS, "resource has its contents.")
        uri = _text(inner, "uri")
        if isinstance(words := inner.get("text"), str):
            return Text(text=f"{_place(uri)}:\n{words}", quotes=_place(uri))
        kind = str(inner.get("mimeType") or "application/octet-stream")
        return Blob(media_type=kind, data=_data(inner, "blob"), name=_place(uri).rpartition("/")[2])
    raise RpcError(INVALID_PARAMS, f"There is no content of the type {str(kind)[:40]!r}.")


def _text(block: Mapping[str, JSON], name: str) -> str:
    value = block.get(name)
    if not isinstance(value, str):
        raise RpcError(INVALID_PARAMS, f"{name} of content is a text.")
    return value.encode("utf-8", "replace").decode().replace("\0", "")


def _data(block: Mapping[str, JSON], name: str) -> bytes:
    try:
        return base64.b64decode(_text(block, name), validate=True)
    except (binascii.Error, ValueError):
        raise RpcError(INVALID_PARAMS, f"{name} of content is no base64.") from None


def _place(uri: str) -> str:
    """Return a file by its path, anything else by its address."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri
    return unquote(parts.path) if parts.scheme == "file" and parts.path else uri


def _link(uri: str, name: str) -> str:
    place = _place(uri)
    return f"[{name}]({place})" if name and name != place else place


def blocks_of(parts: Iterable[Part]) -> list[JSON]:
    """Return parts as an editor shows them; what it cannot show is named."""
    shown = []
    for part in parts:
        if isinstance(part, Text):
            shown.append(text(part.text))
        elif isinstance(part, Blob):
            shown.append(_blob(part))
    return shown


def _blob(blob: Blob) -> JSON:
    kind = blob.media_type.partition("/")[0]
    if kind in ("image", "audio"):
        try:
            data = blob.data if blob.data is not None else Path(blob.path or "").read_bytes()
        except OSError:
            data = b""
        if data and len(data) <= _LARGEST:
            return {"type": kind, "mimeType": blob.media_type, "data": base64.b64encode(data).decode()}
    if blob.path:
        name = blob.name or Path(blob.path).name
        return {
            "type": "resource_link",
            "name": name,
            "uri": Path(blob.path).absolute().as_uri(),
            "mimeType": blob.media_type,
        }
    return text(blob.words or f"[{blob.media_type}: {blob.name or 'a file'}]")
