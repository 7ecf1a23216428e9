"""The file of a copy: a tar, packed with gzip, whose last member ``manifest.json`` names all others with their digests.

A copy with secrets in it is sealed as a whole. Its file appears under its name when it is complete, never before.
"""

import gzip
import hashlib
import io
import json
import os
import re
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

from attrs import Factory

from hermes_core.errors import UserError
from hermes_core.values import frozen
from hermes_tool_backup.contents import Kind
from hermes_tool_backup.sealed import Opened, Sealing

__all__ = [
    "AUTO", "CONFIG", "HIDDEN", "SEALED", "Copy", "Manifest", "Member", "Reader", "Writer", "copies", "copy_at",
    "file_name", "pick", "readable",
]  # fmt: skip

AUTO = "auto"  # the label of copies that are made by themselves
CONFIG = "config.yaml"
HIDDEN = "the secrets in it were taken out"  # why a file is there, and not whole
SEALED = ".sealed"
_END = ".tar.gz"
_MANIFEST = "manifest.json"
_FORMAT = 1
_LEVEL = 6  # of gzip: more takes twice the time for a hundredth of the size
_NAME = re.compile(r"hermes-(\d{8}-\d{6})(?:-([a-z0-9-]+))?\.tar\.gz(\.sealed)?")
_CHUNK = 1 << 20


class Copy(NamedTuple):
    """One copy in a folder: its file, when it was made (UTC, ``YYYYmmdd-HHMMSS``), its label, its bytes, if sealed."""

    path: Path
    when: str
    label: str
    size: int
    sealed: bool


class Member(NamedTuple):
    """One thing in a copy. ``size`` in bytes; ``digest`` is SHA-256 of the content, or of a link's target."""

    path: str
    kind: Kind
    size: int = 0
    digest: str = ""
    mode: int = 0o600


@frozen(kw_only=True)
class Manifest:
    """What a copy says of itself. ``left_out`` and ``damaged`` give a reason for a path."""

    made: str
    version: str
    label: str = ""
    secrets: bool = False
    members: Mapping[str, Member] = Factory(dict)
    left_out: Mapping[str, str] = Factory(dict)
    damaged: Mapping[str, str] = Factory(dict)


def copies(folder: Path) -> list[Copy]:
    """The copies in a folder, newest first."""
    found = [
        Copy(path, match[1], match[2] or "", path.stat().st_size, bool(match[3]))
        for path in (folder.iterdir() if folder.is_dir() else ())
        if (match := _NAME.fullmatch(path.name)) and path.is_file()
    ]
    return sorted(found, key=lambda copy: (copy.when, copy.path.name), reverse=True)


def copy_at(path: Path) -> Copy:
    """The copy that a file is, wherever it lies. Raises UserError when there is none."""
    if not path.is_file():
        raise UserError(f"There is no file {path}.")
    match = _NAME.fullmatch(path.name)
    when, label = (match[1], match[2] or "") if match else ("", "")
    return Copy(path, when, label, path.stat().st_size, path.name.endswith(SEALED))


def pick(folder: Path, name: str) -> Copy:
    """The copy of a name or label, or at a path; else the newest. Raises UserError: it says what there is."""
    found = copies(folder)
    if not name:
        if not found:
            raise UserError(f"There is no copy in {folder}.", hint="Make one: hermes backup create.")
        return found[0]
    for copy in found:
        if name in (copy.path.name, copy.path.name.partition(".")[0], copy.when, copy.label):
            return copy
    path = Path(name).expanduser()
    if path.is_file():
        return copy_at(path)
    there = ", ".join(copy.path.name for copy in found[:5]) or "none"
    raise UserError(f"There is no copy {name!r} in {folder}, and no such file.", hint=f"The newest there: {there}.")


class Writer:
    """Writes one copy. One that is not finished leaves nothing behind; after a death a draft, which the next drops."""

    def __init__(self, path: Path, passphrase: str = "") -> None:
        self._path, self._passphrase = path, passphrase
        self._draft = path.with_name(f".{path.name}.part")
        self._members: dict[str, Member] = {}

    def __enter__(self) -> Self:
        self._open = ExitStack()
        handle = os.open(self._draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self._file: IO[bytes] = self._open.enter_context(os.fdopen(handle, "wb"))
        sink: Any = self._file
        if self._passphrase:
            sink = self._open.enter_context(Sealing(self._file, self._passphrase))
        packed = gzip.GzipFile("", "wb", _LEVEL, sink, mtime=0)
        self._open.callback(packed.close)
        self._tar = self._open.enter_context(tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT))
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None:
            return
        with suppress(OSError, tarfile.TarError):  # a full disk says it again
            self._open.close()
        self._draft.unlink(missing_ok=True)

    @property
    def members(self) -> Mapping[str, Member]:
        """What is in it so far."""
        return self._members

    def folder(self, path: str, mode: int) -> None:
        """Put a folder in."""
        self._add(Member(path, "folder", mode=mode), tarfile.DIRTYPE)

    def link(self, path: str, target: str) -> None:
        """Put a link in, with what it points to."""
        digest = hashlib.sha256(os.fsencode(target)).hexdigest()
        self._add(Member(path, "link", digest=digest), tarfile.SYMTYPE, target=target)

    def file(self, path: str, kind: Kind, content: IO[bytes], mode: int) -> None:
        """Put the rest of an open file in; it is read twice, so it must not change meanwhile."""
        start, digest, size = content.tell(), hashlib.sha256(), 0
        while chunk := content.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
        content.seek(start)
        self._add(Member(path, kind, size, digest.hexdigest(), mode), tarfile.REGTYPE, content)

    def finish(self, manifest: Manifest) -> Copy:
        """Write the manifest, and give the copy its name. It is on the disk when this returns."""
        told = {
            "format": _FORMAT, "made": manifest.made, "version": manifest.version, "label": manifest.label,
            "secrets": manifest.secrets, "left_out": dict(manifest.left_out), "damaged": dict(manifest.damaged),
            "members": [member._asdict() for member in self._members.values()],
        }  # fmt: skip
        data = json.dumps(told, ensure_ascii=False).encode("utf-8", "surrogateescape")
        info = tarfile.TarInfo(_MANIFEST)
        info.size = len(data)
        self._tar.addfile(info, io.BytesIO(data))
        held = os.dup(self._file.fileno())
        try:
            self._open.close()
            os.fsync(held)
        finally:
            os.close(held)
        self._draft.replace(self._path)
        _sync(self._path.parent)
        size = self._path.stat().st_size
        return Copy(self._path, manifest.made, manifest.label, size, bool(self._passphrase))

    def _add(self, member: Member, type_: bytes, content: "IO[bytes] | None" = None, target: str = "") -> None:
        info = tarfile.TarInfo(f"home/{member.path}")
        info.type, info.size, info.mode, info.linkname = type_, member.size, member.mode, target
        self._tar.addfile(info, content)
        self._members[member.path] = member


class Reader:
    """Reads one copy from its begin to its end; ``manifest`` is there once all members were taken.

    Read it within ``readable``. Raises UserError for a file that was cut off, and for another passphrase.
    """

    def __init__(self, path: Path, passphrase: str = "") -> None:
        self._path, self._passphrase = path, passphrase
        self.manifest: Manifest | None = None

    def members(self) -> "Iterator[tuple[Member, IO[bytes] | None, str]]":
        """Each thing, with its content where it is a file, and its target where it is a link.

        Size and kind are what the archive says; the digest is not known before the manifest.
        """
        with ExitStack() as opened:
            file: Any = opened.enter_context(self._path.open("rb"))
            if self._passphrase or file.peek(16).startswith(b"hermes-sealed"):
                file = io.BufferedReader(Opened(file, self._passphrase), _CHUNK)
            packed = opened.enter_context(gzip.GzipFile(fileobj=file, mode="rb"))
            with tarfile.open(fileobj=packed, mode="r|") as tar:
                for info in tar:
                    content = tar.extractfile(info) if info.isreg() else None
                    if info.name == _MANIFEST and content:
                        self.manifest = _manifest(json.loads(content.read()))
                    else:
                        yield _member(info), content, info.linkname
            while packed.read(_CHUNK):  # its checksum is at the end
                pass
        if self.manifest is None:
            raise UserError(f"{self._path.name} was cut off: it has no manifest.")


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Say in plain words that the file of a copy, read within, is not one."""
    try:
        yield
    except (tarfile.TarError, zlib.error, EOFError, gzip.BadGzipFile, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path.name} is damaged, or no copy of Hermes: {error}.") from None


def _member(info: tarfile.TarInfo) -> Member:
    path = info.name.removeprefix("home/")
    parts = path.split("/")
    if path == info.name or path.startswith("/") or {"", ".", ".."} & set(parts) or "\0" in path:
        raise ValueError(f"it holds {info.name!r}, which lies outside of a home")
    kind: Kind = "folder" if info.isdir() else "link" if info.issym() else "file"
    if kind == "file" and not info.isreg():
        raise ValueError(f"{path} is neither file, folder nor link")
    return Member(path, kind, info.size, mode=info.mode & 0o777)


def _manifest(told: Mapping[str, Any]) -> Manifest:
    if told["format"] != _FORMAT:
        raise ValueError("it is of a newer Hermes")
    members = {row["path"]: Member(**row) for row in told["members"]}
    return Manifest(
        made=told["made"],
        version=told["version"],
        label=told["label"],
        secrets=told["secrets"],
        members=members,
        left_out=told["left_out"],
        damaged=told["damaged"],
    )


def file_name(made: str, label: str, *, sealed: bool) -> str:
    """The name of the file of a copy."""
    return f"hermes-{made}{f'-{label}' if label else ''}{_END}{SEALED if sealed else ''}"


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
