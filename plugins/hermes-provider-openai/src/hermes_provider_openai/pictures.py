"""Files and pictures inside a request."""

from pathlib import Path

from hermes_core.types import Blob

__all__ = ["describe", "picture_url"]


def picture_url(blob: Blob) -> str:
    """A data URL, or an empty string for what is no picture or cannot be read."""
    if not blob.media_type.startswith("image/"):
        return ""
    data = blob.data
    if data is None and blob.path:
        try:
            data = Path(blob.path).read_bytes()
        except OSError:
            return ""
    if not data:
        return ""
    from base64 import b64encode

    return f"data:{blob.media_type};base64,{b64encode(data).decode()}"


def describe(blob: Blob) -> str:
    """What to say instead of a file the protocol cannot carry."""
    name = blob.name or blob.path or "unnamed"
    state = " (cannot be read)" if blob.media_type.startswith("image/") else ""
    where = f" at {blob.path}" if blob.path and blob.path != name else ""
    return f"[file {name}{where}, {blob.media_type}{state}]"
