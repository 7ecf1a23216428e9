"""Files and pictures inside a request."""

from hermes_core.types import Blob
from hermes_provider_kit.blobs import blob_bytes, blob_words

__all__ = ["describe", "picture_url"]


def picture_url(blob: Blob) -> str:
    """A data URL, or an empty string for what is no picture or cannot be read."""
    data = blob_bytes(blob) if blob.media_type.startswith("image/") else b""
    if not data:
        return ""
    from base64 import b64encode

    return f"data:{blob.media_type};base64,{b64encode(data).decode()}"


def describe(blob: Blob) -> str:
    """What to say instead of a file the protocol cannot carry."""
    return blob_words(blob, unreadable=blob.media_type.startswith("image/"))
