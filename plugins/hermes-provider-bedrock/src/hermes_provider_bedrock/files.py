"""Files of a conversation as the protocol carries them; one that it cannot carry is named in words."""

import re
from base64 import b64encode
from pathlib import PurePath

from hermes_core.types import JSON, Blob
from hermes_provider_kit.blobs import blob_bytes, blob_words

__all__ = ["FileNames", "carried"]

_KINDS = {
    **{f"image/{one}": ("image", one) for one in ("png", "jpeg", "gif", "webp")},
    **{f"video/{one}": ("video", one) for one in ("mp4", "webm", "mpeg")},
    "video/quicktime": ("video", "mov"),
    "video/x-matroska": ("video", "mkv"),
    "application/pdf": ("document", "pdf"),
    "text/csv": ("document", "csv"),
    "text/html": ("document", "html"),
    "text/plain": ("document", "txt"),
    "text/markdown": ("document", "md"),
    "application/msword": ("document", "doc"),
    "application/vnd.ms-excel": ("document", "xls"),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ("document", "docx"),
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ("document", "xlsx"),
}


class FileNames:
    """The names of the documents of one request: of letters that the protocol takes, and each once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def named(self, blob: Blob) -> str:
        """Give a name for a document, like its own."""
        stem = PurePath(blob.name or blob.path or "").stem
        name = re.sub(r"\s+", " ", re.sub(r"[^A-Za-z0-9 ()\[\]-]", " ", stem)).strip()[:100] or "document"
        made, number = name, 1
        while made in self._taken:
            number += 1
            made = f"{name} {number}"
        self._taken.add(made)
        return made


def carried(blob: Blob, names: FileNames) -> dict[str, JSON]:
    """Give a file as a block of content."""
    kind, form = _KINDS.get(blob.media_type.partition(";")[0].strip().lower(), ("", ""))
    data = blob_bytes(blob) if kind else b""
    if not data:
        return {"text": blob_words(blob, unreadable=bool(kind))}
    block: dict[str, JSON] = {"format": form, "source": {"bytes": b64encode(data).decode()}}
    return {kind: {**block, "name": names.named(blob)} if kind == "document" else block}
