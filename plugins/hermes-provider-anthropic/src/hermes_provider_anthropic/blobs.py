"""Files and pictures inside a request."""

from pathlib import Path

from hermes_core.types import JSON, Blob

__all__ = ["blob_block"]

PICTURES = ("image/jpeg", "image/png", "image/gif", "image/webp")


def blob_block(blob: Blob, *, pictures: bool = True) -> dict[str, JSON]:
    """A picture or a PDF as a block; what the protocol or the model cannot carry is named instead."""
    kind = "image" if blob.media_type in PICTURES else "document" if blob.media_type == "application/pdf" else ""
    data = _bytes(blob) if kind and pictures else b""
    if not data:
        return {"type": "text", "text": _name(blob, unreadable=bool(kind) and pictures)}
    from base64 import b64encode

    source = {"type": "base64", "media_type": blob.media_type, "data": b64encode(data).decode()}
    return {"type": kind, "source": source}


def _bytes(blob: Blob) -> bytes:
    if blob.data is not None or not blob.path:
        return blob.data or b""
    try:
        return Path(blob.path).read_bytes()
    except OSError:
        return b""


def _name(blob: Blob, *, unreadable: bool) -> str:
    name = blob.name or blob.path or "unnamed"
    where = f" at {blob.path}" if blob.path and blob.path != name else ""
    return f"[file {name}{where}, {blob.media_type}{' (cannot be read)' if unreadable else ''}]"
