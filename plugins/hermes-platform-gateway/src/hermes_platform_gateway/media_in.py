"""Files that people send: kept where the tools of their conversation may read them, and named in the message."""

import asyncio
import mimetypes
import os
import re
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

from attrs import evolve

from hermes_core.errors import UserError
from hermes_core.types import Blob, Envelope, Part, Text
from hermes_platform_gateway.names import without_marks

__all__ = ["LARGEST", "keep_files"]

LARGEST = 128 * 1024 * 1024  # bytes of one file
_TYPE = re.compile(r"[A-Za-z0-9.+-]+/[A-Za-z0-9.+-]+(?:; ?[a-z]+=[A-Za-z0-9-]+)?")
_LONGEST = 60  # characters of a file's own name that are kept


async def keep_files(envelope: Envelope, folder: Path, seen: Callable[[Path], Awaitable[str]]) -> Envelope:
    """The message with its files in ``folder``, each named in the text as it is ``seen`` by tools.

    Raises UserError when one cannot be kept.
    """
    if not any(isinstance(part, Blob) for part in envelope.message.parts):
        return envelope
    kept: list[Part] = []
    notes: list[str] = []
    for part in envelope.message.parts:
        if not isinstance(part, Blob):
            kept.append(part)
            continue
        path = await asyncio.to_thread(_keep, part, folder)
        notes.append(f"[{_what(part)}: {await seen(path)}]")
        kept.append(evolve(part, data=None, path=str(path), name=_named(part)))
    kept.append(Text(text="\n" + "\n".join(notes)))
    return evolve(envelope, message=evolve(envelope.message, parts=tuple(kept)))


def _keep(blob: Blob, folder: Path) -> Path:
    path = folder / f"{os.urandom(4).hex()}-{_safe(blob)}"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if blob.data is not None:
            path.write_bytes(blob.data)
        elif blob.path:
            if Path(blob.path).stat().st_size > LARGEST:
                raise UserError(f"The file {blob.name} is larger than {LARGEST // 1024 // 1024} MB, and was not taken.")
            shutil.copyfile(blob.path, path)
    except OSError as error:
        raise UserError(f"The file {blob.name} could not be kept: {error.strerror}.") from error
    return path


def _safe(blob: Blob) -> str:
    """A file name that leads nowhere else, with an ending that says what it is."""
    plain = "".join(c if c.isalnum() or c in "-_." else "_" for c in blob.name).strip("._")[-_LONGEST:]
    if "." not in plain:
        plain = (plain or "file") + (mimetypes.guess_extension(blob.media_type.partition(";")[0].strip()) or "")
    return plain.lstrip(".") or "file"


def _named(blob: Blob) -> str:
    """What the sender calls it, as it stands beside other words: on one line, without brackets and our own signs."""
    return " ".join("".join(" " if c in "[]" or not c.isprintable() else c for c in without_marks(blob.name)).split())


def _what(blob: Blob) -> str:
    if blob.media_type.startswith("audio/"):
        return "A voice note or sound"
    kind = blob.media_type if _TYPE.fullmatch(blob.media_type) else "of a kind that is not known"
    return "A picture" if blob.media_type.startswith("image/") else f"A file, {kind}"
