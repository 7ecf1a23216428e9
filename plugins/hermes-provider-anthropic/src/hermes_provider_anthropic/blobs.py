"""Files and pictures inside a request."""

from hermes_core.types import JSON, Blob
from hermes_provider_kit.blobs import blob_bytes, blob_words

__all__ = ["blob_block"]

PICTURES = ("image/jpeg", "image/png", "image/gif", "image/webp")


def blob_block(blob: Blob, *, pictures: bool = True) -> dict[str, JSON]:
    """A picture or a PDF as a block; what the protocol or the model cannot carry is named instead."""
    kind = "image" if blob.media_type in PICTURES else "document" if blob.media_type == "application/pdf" else ""
    data = blob_bytes(blob) if kind and pictures else b""
    if not data:
        return {"type": "text", "text": blob_words(blob, unreadable=bool(kind) and pictures)}
    from base64 import b64encode

    source = {"type": "base64", "media_type": blob.media_type, "data": b64encode(data).decode()}
    return {"type": kind, "source": source}
