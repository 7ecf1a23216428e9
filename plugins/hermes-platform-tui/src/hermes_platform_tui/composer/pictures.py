"""Pictures: what they are by their first bytes, and where they lie when a terminal drops their path."""

import contextlib
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from hermes_core.types import Blob


__all__ = ["LARGEST", "Refused", "may_be_paths", "named_paths", "picture", "read_pictures"]

LARGEST = 20_000_000  # bytes
PATHS = 4_096  # characters of a paste that may still be paths
_KINDS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


class Refused(Exception):
    """Why something is not attached."""


def media_type(data: bytes) -> str:
    """The media type that the first bytes tell, or nothing."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _KINDS if data.startswith(magic)), "")


def picture(data: bytes, name: str) -> "Blob":
    """A picture that a model takes."""
    from hermes_core.types import Blob

    if len(data) > LARGEST:
        raise Refused(f"{name} is larger than {LARGEST // 1_000_000} MB.")
    kind = media_type(data)
    if not kind:
        raise Refused(f"{name} is not a PNG, JPEG, GIF or WebP picture.")
    return Blob(media_type=kind, data=data, name=name)


def may_be_paths(pasted: str) -> bool:
    """Whether a look at the disk is worth it."""
    text = pasted.strip()
    return 0 < len(text) <= PATHS and "\n" not in text and text.startswith(("/", "~/", "'", '"', "file://"))


def named_paths(pasted: str) -> list[Path]:
    """The absolute paths that a paste consists of: bare, quoted, escaped or as file:// addresses; else nothing."""
    if not may_be_paths(pasted):
        return []
    text = pasted.strip()
    candidates = [[text]]
    with contextlib.suppress(ValueError):  # a quote that is not closed
        candidates.append(shlex.split(text))
    for words in candidates:
        paths = [_path(word) for word in words]
        found = [path for path in paths if path is not None and path.suffix and _is_file(path)]
        if found and len(found) == len(words):
            return found
    return []


def read_pictures(pasted: str) -> "list[Blob]":
    """The pictures whose paths were pasted; nothing when it is any other text. Reads files: for a thread."""
    blobs = []
    for path in named_paths(pasted):
        with path.open("rb") as file:
            if not media_type(file.read(16)):
                return []
            if os.fstat(file.fileno()).st_size > LARGEST:
                raise Refused(f"{path.name} is larger than {LARGEST // 1_000_000} MB.")
            file.seek(0)
            blobs.append(picture(file.read(LARGEST + 1), path.name))
    return blobs


def _path(word: str) -> Path | None:
    if word.startswith("file://"):
        address = urlsplit(word)
        word = unquote(address.path) if address.netloc in ("", "localhost") else ""
    if word.startswith("~/"):
        word = str(Path.home()) + word[1:]
    return Path(word) if word.startswith("/") and "\0" not in word else None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name too long, a folder nobody may look into
        return False
