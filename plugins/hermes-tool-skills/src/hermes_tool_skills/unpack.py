"""Archives read in memory, with nothing of theirs on disk: paths, links, sizes and passwords are judged first."""

import io
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator

from hermes_core.values import frozen
from hermes_tool_skills.tree import MAIN, MOST_BYTES, MOST_FILE, MOST_FILES, BadTree, path_problem

MOST_ARCHIVE = 20 * 1024 * 1024  # bytes of an archive
_MOST_MEMBERS = 20_000  # of which only one folder may be wanted
_MOST_UNPACKED = 512 * 1024 * 1024  # bytes of all members together, wanted or not
_RATIO = 200  # times smaller than what comes out
_BROKEN = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError, ValueError, NotImplementedError)


@frozen(kw_only=True, eq=False)
class Member:
    """One thing in an archive. ``kind`` is file, folder or other."""

    name: str
    size: int
    kind: str
    read: Callable[[], bytes]


def unpack(data: bytes, folder: str = "") -> tuple[dict[str, bytes], str]:
    """The files below a folder of a zip or (compressed) tar archive, and the commit that it says it is of.

    An archive's one top folder does not count. Raises BadTree for what is no archive, is locked with a password, would
    lead out of the folder, grows too much, or holds links where files are wanted.
    """
    if len(data) > MOST_ARCHIVE:
        raise BadTree(f"The archive has {len(data):,} bytes; {MOST_ARCHIVE:,} is the most.")
    try:
        return _unpack(data, folder.strip("/"))
    except BadTree:
        raise
    except _BROKEN as error:
        raise BadTree(f"The archive cannot be read: {str(error)[:200] or type(error).__name__}.") from None
    except RuntimeError as error:  # what zipfile raises for a password that no flag told of
        raise BadTree(f"The archive cannot be read: {str(error)[:200]}.") from None


def unpack_mains(data: bytes) -> dict[str, bytes]:
    """Every SKILL.md of an archive by the folder it lies in, below the archive's one top folder. Raises BadTree."""
    if len(data) > MOST_ARCHIVE:
        raise BadTree(f"The archive has {len(data):,} bytes; {MOST_ARCHIVE:,} is the most.")
    try:
        names = {_path(m.name) for m in _judged(data, []) if m.kind == "file"} - {""}
        tops = {name.partition("/")[0] for name in names}
        top = f"{tops.pop()}/" if len(tops) == 1 and all("/" in name for name in names) else ""
        found = {}
        for member in _judged(data, []):
            name = _path(member.name)
            if member.kind == "file" and (name == f"{top}{MAIN}" or name.endswith(f"/{MAIN}")):
                found[name.removeprefix(top).removesuffix(MAIN).rstrip("/")] = member.read()
    except BadTree:
        raise
    except (*_BROKEN, RuntimeError) as error:
        raise BadTree(f"The archive cannot be read: {str(error)[:200] or type(error).__name__}.") from None
    return found


def _unpack(data: bytes, folder: str) -> tuple[dict[str, bytes], str]:
    commits: list[str] = []
    names = [_path(m.name) for m in _judged(data, commits) if m.kind != "folder"]
    tops = {name.partition("/")[0] for name in names if name}
    top = f"{tops.pop()}/" if len(tops) == 1 and all("/" in name for name in names if name) else ""
    start = f"{top}{folder}/" if folder else top
    found: dict[str, bytes] = {}
    total = 0
    for member in _judged(data, []):
        name = _path(member.name)
        if member.kind == "folder" or not name.startswith(start) or not name:
            continue
        path = name.removeprefix(start)
        if member.kind != "file":
            raise BadTree(f"{path!r} is a link or device; a skill holds plain files only.")
        if path in found:
            raise BadTree(f"{path} is in the archive twice, so it is not said which one counts.")
        found[path] = content = member.read()
        total += len(content)
        if len(content) > MOST_FILE:
            raise BadTree(f"The file {path} is larger than {MOST_FILE:,} bytes.")
        if total > MOST_BYTES or (total > MOST_FILE and total > _RATIO * len(data)):
            raise BadTree("The archive grows too much when it is unpacked.")
        if len(found) > MOST_FILES:
            raise BadTree(f"It has more than {MOST_FILES} files; name the folder of one skill.")
    if not found:
        raise BadTree(f"There is no folder {folder!r} in it." if folder else "There is nothing in it.")
    return found, commits[0] if commits else ""


def _judged(data: bytes, commits: list[str]) -> Iterator[Member]:
    total = 0
    for number, member in enumerate(_zip(data) if data.startswith(b"PK") else _tar(data, commits), 1):
        total += member.size
        if number > _MOST_MEMBERS or total > _MOST_UNPACKED:
            raise BadTree("The archive grows too much when it is unpacked.")
        yield member


def _zip(data: bytes) -> Iterator[Member]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            if member.flag_bits & 0x41:
                raise BadTree("The archive is locked with a password, so nobody can look into it.")
            mode = member.external_attr >> 16
            kind = "folder" if member.is_dir() else "file" if stat.S_IFMT(mode) in (0, stat.S_IFREG) else "other"

            def read(member: zipfile.ZipInfo = member) -> bytes:
                with archive.open(member) as file:
                    return file.read(MOST_FILE + 1)

            yield Member(name=member.filename, size=member.file_size, kind=kind, read=read)


def _tar(data: bytes, commits: list[str]) -> Iterator[Member]:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r|*") as archive:
        for member in archive:

            def read(member: tarfile.TarInfo = member) -> bytes:
                file = archive.extractfile(member)
                return file.read(MOST_FILE + 1) if file else b""

            kind = "folder" if member.isdir() else "file" if member.isfile() and not member.islnk() else "other"
            yield Member(name=member.name, size=member.size, kind=kind, read=read)
        if comment := archive.pax_headers.get("comment"):  # git archive writes the commit there
            commits.append(str(comment))


def _path(name: str) -> str:
    """The plain path of a member; empty for hidden files, which are no part of a skill. Raises BadTree."""
    plain = name.removeprefix("./").rstrip("/")
    if plain in ("", "."):
        return ""
    hidden = any(part.startswith(".") and part not in (".", "..") for part in plain.split("/"))
    problem = path_problem("/".join(part.lstrip(".") or part for part in plain.split("/")) if hidden else plain)
    if problem:
        raise BadTree(f"The path {name!r} in the archive {problem}.")
    return "" if hidden else plain
