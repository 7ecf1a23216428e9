"""Files and pictures of a conversation: their bytes, and the words that stand for those a protocol cannot carry."""

from pathlib import Path

from hermes_core.types import Blob

__all__ = ["blob_bytes", "blob_words"]


def blob_bytes(blob: Blob) -> bytes:
    """Read what a file holds; empty when it cannot be read."""
    if blob.data is not None or not blob.path:
        return blob.data or b""
    try:
        return Path(blob.path).read_bytes()
    except OSError:
        return b""


def blob_words(blob: Blob, *, unreadable: bool) -> str:
    """Name a file instead of sending it; ``unreadable`` says that it would have been sent."""
    name = blob.name or blob.path or "unnamed"
    where = f" at {blob.path}" if blob.path and blob.path != name else ""
    return f"[file {name}{where}, {blob.media_type}{' (cannot be read)' if unreadable else ''}]"
