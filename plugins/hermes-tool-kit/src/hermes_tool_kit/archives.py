"""Unpack an archive from outside: all of it inside one new folder, or nothing.

Zip, tar, tar.gz and tar.bz2. Only folders and regular files come out: an archive that holds a link, a device, a name
that leads elsewhere or two names for one place is refused as a whole, and so is one that unpacks to more than it
should. Nothing of an archive's own owners, dates and special modes is taken over.
"""

import os
import re
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from hermes_core.errors import OutOfReach

if TYPE_CHECKING:
    import tarfile
    import zipfile

__all__ = ["ArchiveLimits", "unpack"]

_BLOCK = 65_536
_RATIO_FROM = 10_000_000  # bytes; small archives of text may be packed well
_HEADERS = 4_096  # bytes of a tar for each member: its header, what fills its last block, a long name
_BROKEN = (EOFError, ValueError, LookupError, ArithmeticError, RuntimeError, MemoryError, struct.error)
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(\..*)?", re.IGNORECASE)


class ArchiveLimits(NamedTuple):
    """How much may come out: files and folders, bytes in all, bytes of one file, and bytes for each byte packed."""

    members: int = 10_000
    total: int = 200_000_000
    file: int = 100_000_000
    ratio: int = 200


class _Member(NamedTuple):
    name: str
    folder: bool
    runs: bool
    source: Any  # how its bytes are had


def unpack(archive: str | Path, into: str | Path, limits: ArchiveLimits = ArchiveLimits()) -> list[str]:  # noqa: B008
    """Unpack into a folder that does not exist yet or is empty; the names of the files, sorted.

    It is filled beside its place and moved there when whole. Raises OutOfReach when the archive breaks a rule, cannot
    be read or is none; then nothing is left behind. Raises OSError when the disk refuses.
    """
    import shutil
    import tempfile

    target = Path(os.path.abspath(into))  # noqa: PTH100 - a link in its place is refused, not followed
    if target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
        raise OutOfReach(f"{Path(archive).name} was not unpacked: {target} is there already and not an empty folder.")
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{target.name[:40]}.", suffix=".draft", dir=target.parent))
    try:
        draft.chmod(0o755)
        names = _unpacked(Path(archive), draft, limits)
        with suppress(FileNotFoundError):
            target.rmdir()
        draft.rename(target)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return names


def _unpacked(archive: Path, draft: Path, limits: ArchiveLimits) -> list[str]:
    import tarfile
    import zipfile
    import zlib

    try:
        most = min(limits.total, max(_RATIO_FROM, archive.stat().st_size * limits.ratio))
        with _members(archive, limits, most) as members:
            return _write(archive.name, members, draft, limits, most)
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, *_BROKEN) as error:
        text = f"{str(error)[:200]!a}"[1:-1].rstrip(".")
        raise _refused(archive.name, f"it cannot be read ({text or type(error).__name__})") from error
    except OSError as error:
        if error.errno is None:  # how gzip and bz2 say that their data is broken
            raise _refused(archive.name, "it cannot be read") from error
        raise


def _write(label: str, members: Iterator[_Member], draft: Path, limits: ArchiveLimits, most: int) -> list[str]:
    taken: dict[str, bool] = {}  # every place in its loosest spelling, and whether it is a folder
    names: list[str] = []
    total = 0
    for count, member in enumerate(members, 1):
        if count > limits.members:
            raise _refused(label, f"it holds more than {limits.members:,} members")
        parts = _parts(label, member.name)
        if not parts and member.folder:
            continue  # the folder itself, as ./
        _take(label, parts, member, taken)
        place = draft.joinpath(*parts)
        if member.folder:
            place.mkdir(parents=True, exist_ok=True)
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        total += _copy(label, member, place, min(limits.file, most - total))
        names.append("/".join(parts))
    return sorted(names)


def _parts(label: str, name: str) -> list[str]:
    """The parts of a member's name. Raises OutOfReach for one that leads elsewhere or that no file should have."""
    shown = f"{name[:100]!a}"
    if name.startswith("/") or re.match(r"[A-Za-z]:", name) or "\\" in name:
        raise _refused(label, f"{shown} is an absolute path, or one of Windows")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    for part in parts:
        if part == "..":
            raise _refused(label, f"{shown} leads out of its folder")
        if not part.isprintable() or "\ufffd" in part or len(os.fsencode(part)) > 255 or ":" in part:
            raise _refused(label, f"{shown} is no name for a file")
        if part != part.rstrip(" .") or _RESERVED.fullmatch(part):
            raise _refused(label, f"{shown} is another file, or none, on other systems")
    if len(parts) > 64 or len(name) > 1_024:
        raise _refused(label, f"{shown} is too deep or too long")
    return parts


def _take(label: str, parts: list[str], member: _Member, taken: dict[str, bool]) -> None:
    import unicodedata

    key = ""
    for depth, part in enumerate(parts, 1):
        key += "/" + unicodedata.normalize("NFKC", part).casefold()
        folder = depth < len(parts) or member.folder
        if key in taken and not (folder and taken[key]):
            raise _refused(label, f"two members are called {'/'.join(parts[:depth])[:100]!a}, or nearly so")
        taken[key] = folder
    if not parts:
        raise _refused(label, "a file in it has no name")


def _copy(label: str, member: _Member, place: Path, room: int) -> int:
    written = 0
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with member.source() as source, os.fdopen(os.open(place, flags, 0o755 if member.runs else 0o644), "wb") as file:
        while block := source.read(min(_BLOCK, room - written + 1)):
            written += len(block)
            if written > room:
                raise _refused(label, "it unpacks to more than is allowed: a bomb, or too large")
            file.write(block)
    return written


@contextmanager
def _members(archive: Path, limits: ArchiveLimits, most: int) -> Iterator[Iterator[_Member]]:
    import zipfile

    with archive.open("rb") as file:
        head = file.read(4)
        file.seek(0)
        if head == b"PK\x03\x04" or head == b"PK\x05\x06":
            with zipfile.ZipFile(file) as opened:
                if len(opened.filelist) > limits.members:
                    raise _refused(archive.name, f"it holds more than {limits.members:,} members")
                yield (_zip_member(archive.name, opened, info) for info in opened.filelist)
        else:
            with _plain(file, head) as stream:
                yield _tar_members(archive.name, stream, most + limits.members * _HEADERS)


def _zip_member(label: str, opened: "zipfile.ZipFile", info: "zipfile.ZipInfo") -> _Member:
    mode = info.external_attr >> 16
    shown = f"{info.filename[:100]!a}"
    if info.compress_type not in (0, 8, 12):  # stored, deflated, bzip2; others may ask for any amount of memory
        raise _refused(label, f"{shown} is packed in an unusual way")
    if info.flag_bits & 0x1:
        raise _refused(label, f"{shown} is encrypted")
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise _refused(label, f"{shown} is a link or a device")
    if "\0" in info.orig_filename:
        raise _refused(label, f"{shown} holds a NUL character")
    # ZipFile makes other separators into slashes; what the archive says is judged.
    return _Member(info.orig_filename, info.is_dir(), bool(mode & 0o111), lambda: opened.open(info))


@contextmanager
def _plain(file: IO[bytes], head: bytes) -> Iterator[IO[bytes]]:
    if head.startswith(b"\x1f\x8b"):
        import gzip

        with gzip.GzipFile(fileobj=file) as stream:
            yield stream  # type: ignore[misc]
    elif head.startswith(b"BZh"):
        import bz2

        with bz2.BZ2File(file) as stream:
            yield stream
    else:
        yield file


class _Bounded:
    """A stream that ends in a refusal: headers can be bombs too, and tarfile holds them in memory."""

    def __init__(self, label: str, stream: IO[bytes], room: int) -> None:
        self._label, self._stream, self._room = label, stream, room

    def read(self, size: int) -> bytes:
        data = self._stream.read(min(size, self._room + 1))
        self._room -= len(data)
        if self._room < 0:
            raise _refused(self._label, "it unpacks to more than is allowed: a bomb, or too large")
        return data


def _tar_members(label: str, stream: IO[bytes], room: int) -> Iterator[_Member]:
    import tarfile

    bounded = _Bounded(label, stream, room)
    with tarfile.open(fileobj=bounded, mode="r|", errorlevel=2) as opened:  # type: ignore[call-overload]
        for info in opened:
            shown = f"{info.name[:100]!a}"
            if not (info.isreg() or info.isdir()) or info.issparse():
                raise _refused(label, f"{shown} is a link, a device or has holes")
            yield _Member(info.name, info.isdir(), bool(info.mode & 0o111), lambda info=info: _tar_file(opened, info))


def _tar_file(opened: "tarfile.TarFile", info: "tarfile.TarInfo") -> IO[bytes]:
    source = opened.extractfile(info)
    assert source, f"{info.name} is no file"
    return source


def _refused(label: str, reason: str) -> OutOfReach:
    return OutOfReach(f"{label} was not unpacked: {reason}.", opened=True)
