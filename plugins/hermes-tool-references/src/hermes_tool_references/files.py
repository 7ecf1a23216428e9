"""Files and folders of the workspace: nothing outside of it, nothing closed, nothing that never ends."""

import codecs
import os
import stat
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from hermes_core.errors import OutOfReach
from hermes_paths.places import PathRules, check_path, open_path
from hermes_tool_references.found import Found, Refused, one_line
from hermes_tool_references.listing import names_below, outline
from hermes_tool_references.parsing import Reference

ENTRIES = 200  # of a folder
_SCANNED = 64_000_000  # bytes of a file that are read to come to its lines
_PIECE = 262_144
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def read_file(wanted: Reference, rules: PathRules, most: int) -> Found | None:
    """A file, or lines of it; None for a bare path that is no file. More than ``most`` bytes are not read.

    Raises Refused.
    """
    if wanted.kind == "path" and not _is_there(wanted.value, rules.cwd):
        return None
    if wanted.kind == "path" and wanted.value.endswith("/"):
        return list_folder(wanted, rules)
    try:
        descriptor = open_path(wanted.value, rules)
    except OutOfReach as error:
        if wanted.kind == "file" and not wanted.first and _is_folder(wanted.value, rules):
            return list_folder(wanted, rules)
        raise _told(error) from None
    except OSError as error:
        raise Refused((error.strerror or "it cannot be opened").lower()) from None
    with os.fdopen(descriptor, "rb") as file:
        size = os.fstat(descriptor).st_size
        head = file.read(8_192)
        file.seek(0)
        encoding = next((name for mark, name in _MARKS if head.startswith(mark)), "utf-8")
        if encoding == "utf-8" and _is_binary(head):
            raise Refused(f"it is binary ({size:,} bytes)")
        if not wanted.first:
            text = file.read(most + 1).decode(encoding, "replace").removeprefix("\ufeff")
            return _found(wanted, text, "")
        return _some_lines(wanted, file, most, encoding)


def list_folder(wanted: Reference, rules: PathRules) -> Found:
    """The files of a folder, without those that git ignores. Raises Refused."""
    try:
        os.close(open_path(wanted.value, rules, folder=True))
        real = check_path(wanted.value, rules)
    except OutOfReach as error:
        raise _told(error) from None
    except OSError as error:
        raise Refused((error.strerror or "it cannot be opened").lower()) from None
    names, whole = names_below(real)
    shown = outline(names, ENTRIES)
    count = f"{len(names):,}{'' if whole else ' or more'} file{'' if len(names) == 1 else 's'}"
    name = one_line(wanted.value.rstrip("/") or "/") + "/"
    return Found(label=name, title=f"{name} ({count})", text="\n".join(map(one_line, shown)) or "(empty)")


def _some_lines(wanted: Reference, file: BinaryIO, most: int, encoding: str) -> Found:
    """Some lines of a file. Raises Refused when it has not so many, or they are too far down."""
    if encoding != "utf-8":
        file = BytesIO(file.read(most * 4).decode(encoding, "replace").encode())
    kept, number, read, size = list[bytes](), 1, 0, 0
    while number <= wanted.last and size <= most and (piece := file.readline(_PIECE)):
        read += len(piece)
        if number >= wanted.first:
            kept.append(piece)
            size += len(piece)
        elif read > _SCANNED:
            raise Refused(f"line {wanted.first:,} is too far down in so large a file")
        number += piece.endswith(b"\n")
    if not kept:
        raise Refused(f"it has no line {wanted.first:,}")
    text = b"".join(kept).decode("utf-8", "replace").removeprefix("\ufeff")
    last = min(wanted.last, wanted.first + text.removesuffix("\n").count("\n"))
    return _found(wanted, text, f"{wanted.first}-{last}" if last > wanted.first else f"{wanted.first}")


def _found(wanted: Reference, text: str, lines: str) -> Found:
    name = one_line(wanted.value)
    form = Path(wanted.value).suffix[1:]
    form = form if form.isascii() and form.isalnum() and len(form) <= 10 else ""
    if not lines:
        return Found(label=name, title=name, text=text or "(empty)", form=form)
    title = f"{name}, {'lines' if '-' in lines else 'line'} {lines}"
    return Found(label=f"{name}:{lines}", title=title, text=text, form=form)


def _is_there(value: str, cwd: str) -> bool:
    """Whether a word in a sentence names a file, or a folder that it ends with a slash."""
    try:
        facts = os.stat(os.path.join(cwd, os.path.expanduser(value)))  # noqa: PTH111, PTH116, PTH118 - it never raises more
    except (OSError, ValueError):
        return False
    return stat.S_ISDIR(facts.st_mode) if value.endswith("/") else stat.S_ISREG(facts.st_mode)


def _is_folder(value: str, rules: PathRules) -> bool:
    try:
        return os.path.isdir(check_path(value, rules))  # noqa: PTH112
    except (OutOfReach, OSError):
        return False


def _is_binary(head: bytes) -> bool:
    odd = sum(byte < 9 or 13 < byte < 27 or 27 < byte < 32 for byte in head)
    return odd > len(head) // 50 or b"\0" in head


def _told(error: OutOfReach) -> Refused:
    """The kernel's reason, short: it stands behind the reference that it is about."""
    why = error.text.partition(" was not opened: ")[2] or error.text
    if "closed to tools" in why:
        why = "it holds credentials or belongs to Hermes itself, and is closed"
    elif ", outside of " in why:
        why = "it is outside of the folder this session works in"
    return Refused(why.rstrip("."))


def rules_for(cwd: str, closed: Sequence[str | Path]) -> PathRules:
    """What may be opened: files of the workspace, behind links too, that are not closed."""
    return PathRules(cwd=cwd, roots=(cwd,), guarded=closed)
