"""A skill's files as one value: read from a folder without following a link, compared, hashed, written as a whole."""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from hermes_core.errors import UserError

Tree: TypeAlias = Mapping[str, bytes]  # relative paths with forward slashes -> what is in the file

MAIN = "SKILL.md"
MOST_FILES = 500
MOST_FILE = 1024 * 1024  # bytes
MOST_BYTES = 8 * 1024 * 1024  # of a whole skill
_MOST_PATH, _MOST_DEPTH = 200, 8
_DIFF_LINES = 400


class BadTree(UserError):
    """A folder or archive that cannot be a skill's: a link, something too large, a path that leads out."""


def path_problem(path: str) -> str:
    """Why a path inside of a skill is not accepted; empty when it is."""
    parts = path.split("/")
    if not path or path.startswith("/") or "\\" in path or ":" in path or ".." in parts or "" in parts or "." in parts:
        return "leads out of the skill's folder, or is not a plain relative path"
    if len(path) > _MOST_PATH or len(parts) > _MOST_DEPTH:
        return f"is longer than {_MOST_PATH} characters or deeper than {_MOST_DEPTH} folders"
    if not path.isprintable() or any(part.strip() != part for part in parts):
        return "holds characters that cannot be seen"
    if any(part.startswith(".") for part in parts):
        return "is hidden: a name begins with a dot"
    return ""


def apart(name: str) -> bool:
    """Whether a file or folder of this name lies beside a skill and is no part of it: hidden, or made by Python."""
    return name.startswith(".") or name == "__pycache__" or name.endswith(".pyc")


def check_tree(tree: Tree) -> None:
    """Raises BadTree for paths, sizes and numbers of files that no skill may have."""
    for path, data in tree.items():
        if problem := path_problem(path):
            raise BadTree(f"The file {path!r} {problem}.")
        if len(data) > MOST_FILE:
            raise BadTree(f"The file {path} has {len(data):,} bytes; {MOST_FILE:,} is the most.")
    folded: dict[str, str] = {}
    for path in tree:
        if (other := folded.setdefault(path.casefold(), path)) != path:
            raise BadTree(f"The files {other} and {path} differ only in case.")
        for above in PurePosixPath(path).parents:
            if str(above) in tree:
                raise BadTree(f"{above} is a file and a folder at once.")
    if len(tree) > MOST_FILES:
        raise BadTree(f"It has {len(tree):,} files; {MOST_FILES} is the most.")
    if (size := sum(map(len, tree.values()))) > MOST_BYTES:
        raise BadTree(f"It has {size:,} bytes; {MOST_BYTES:,} is the most.")


def read_tree(folder: Path) -> dict[str, bytes]:
    """All files of a folder. Raises BadTree for links, devices and what is too large, OSError."""
    found: dict[str, bytes] = {}
    for path, _ in walk(folder):
        found[path] = read_file(folder, path)
    check_tree(found)
    return found


def walk(folder: Path, below: str = "") -> Iterator[tuple[str, os.stat_result]]:
    """The paths and stats of all files, in order. Raises BadTree for links and devices, and when there are too many."""
    for number, (path, info) in enumerate(_walk(folder, below), 1):
        if number > MOST_FILES:
            raise BadTree(f"{folder} has more than {MOST_FILES} files.")
        yield path, info


def _walk(folder: Path, below: str) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(folder / below if below else folder) as entries:
        for entry in sorted(entries, key=lambda e: e.name):
            if apart(entry.name):
                continue
            path = f"{below}/{entry.name}" if below else entry.name
            info = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(info.st_mode):
                if path.count("/") >= _MOST_DEPTH:
                    raise BadTree(f"The folder {path!r} is deeper than {_MOST_DEPTH}.")
                yield from _walk(folder, path)
            elif stat.S_ISREG(info.st_mode):
                if info.st_size > MOST_FILE:
                    raise BadTree(f"The file {path} has {info.st_size:,} bytes; {MOST_FILE:,} is the most.")
                yield path, info
            else:
                kind = "a link" if stat.S_ISLNK(info.st_mode) else "neither a file nor a folder"
                raise BadTree(f"{path!r} is {kind}; a skill holds plain files only.")


def read_file(folder: Path, path: str) -> bytes:
    """One file below a folder; no part of the path may be a link.

    Raises BadTree for what is not a plain file in the folder or is too large, OSError when it cannot be read.
    """
    if problem := path_problem(path):
        raise BadTree(f"The path {path!r} {problem}.")
    try:
        return _read(folder, path)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise BadTree(f"{path} is a link, or lies behind one; a skill holds plain files only.") from None
        raise


def _read(folder: Path, path: str) -> bytes:
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        *above, name = path.split("/")
        for part in above:
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
            os.close(at)
            at = below
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
        with os.fdopen(handle, "rb") as file:
            info = os.fstat(file.fileno())
            if not stat.S_ISREG(info.st_mode):
                raise BadTree(f"{path} is not a plain file.")
            data = file.read(MOST_FILE + 1)
            if len(data) > MOST_FILE:
                raise BadTree(f"The file {path} is larger than {MOST_FILE:,} bytes.")
            return data
    finally:
        os.close(at)


def hashes(tree: Tree) -> dict[str, str]:
    """The SHA-256 of every file."""
    return {path: hashlib.sha256(tree[path]).hexdigest() for path in sorted(tree)}


def digest(files: Mapping[str, str]) -> str:
    """One SHA-256 for the hashes of all files."""
    text = "".join(f"{files[path]}  {path}\n" for path in sorted(files))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def text_of(data: bytes) -> str | None:
    """The text of a file, or None for a binary one."""
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def difference(before: Tree, after: Tree) -> list[str]:
    """What changed, as the lines of a patch; binary files are named only."""
    from difflib import unified_diff

    lines: list[str] = []
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        texts = [text_of(data or b"") for data in (old, new)]
        if texts[0] is None or texts[1] is None:
            lines.append(f"binary {path}: {len(old or b''):,} -> {len(new or b''):,} bytes")
            continue
        names = (f"a/{path}" if old is not None else "/dev/null", f"b/{path}" if new is not None else "/dev/null")
        patch = unified_diff(texts[0].splitlines(), texts[1].splitlines(), *names, lineterm="", n=2)
        lines += [visible(line) for line in patch]
    return lines


def shortened(lines: list[str], most: int = _DIFF_LINES) -> list[str]:
    """At most so many lines, and one that says how many are left out."""
    if len(lines) <= most:
        return lines
    return [*lines[:most], f"… {len(lines) - most:,} more lines"]


def visible(text: str) -> str:
    """A text for a terminal: what nobody can see, or moves the cursor, is written out."""
    return "".join(c if c.isprintable() or c == "\t" else f"<U+{ord(c):04X}>" for c in text)
