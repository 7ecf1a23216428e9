"""Skills in folders that a person named, as files with digests. Nothing outside of a skill's own folder is read.

The limits are those of https://modelcontextprotocol.io/seps/2640-skills-extension, the format of a skill that of
https://agentskills.io.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hermes_core.errors import OutOfReach
from hermes_core.values import frozen

__all__ = ["MAIN", "SkillFile", "SkillFolder", "SkillFolders"]

MAIN = "SKILL.md"
_FILES, _BYTES = 512, 16_777_216  # of one skill
_SKILLS = 200
_NAME = re.compile(r"(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
_HEAD = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_PASSED_OVER = ("__pycache__", "node_modules")


@frozen(kw_only=True)
class SkillFile:
    """One file: its ``path`` below the skill, with slashes; ``size`` in bytes."""

    uri: str
    path: str
    size: int
    digest: str


@frozen(kw_only=True)
class SkillFolder:
    """A skill: what its SKILL.md says of itself, and its files, SKILL.md first."""

    name: str
    place: Path
    head: Mapping[str, Any]
    files: Sequence[SkillFile]

    @property
    def uri(self) -> str:
        """Where it begins."""
        return self.files[0].uri


class SkillFolders:
    """The skills below some folders. ``guarded`` are closed; ``leaks`` tells whether a text holds a secret.

    ``say`` hears once of each skill that cannot be served, and why.
    """

    def __init__(
        self, folders: Sequence[str], guarded: Sequence[Path], leaks: Callable[[str], bool], say: Callable[[str], None]
    ) -> None:
        self._folders = [Path(os.path.realpath(Path(one).expanduser())) for one in folders]
        self._guarded, self._leaks, self._say = guarded, leaks, say
        self._said: set[str] = set()
        self._known: dict[str, tuple[tuple[int, ...], str]] = {}  # digests, by what the system says of a file

    def read(self) -> Mapping[str, SkillFolder]:
        """Return the skills there are now, by name. Those that cannot be served are told of and left out."""
        found: dict[str, SkillFolder] = {}
        for place in self._places():
            if place.name in found or len(found) >= _SKILLS:
                continue
            try:
                found[place.name] = self._skill(place)
            except (OSError, ValueError, OutOfReach) as error:
                self._tell(f"The skill {place} is not served: {error}")
        return found

    def _tell(self, line: str) -> None:
        if line not in self._said:
            self._said.add(line)
            self._say(line)

    def _places(self) -> Iterator[Path]:
        for folder in self._folders:
            if (folder / MAIN).is_file():
                yield folder
                continue
            if not folder.is_dir():
                self._tell(f"There is no folder {folder} to serve skills of.")
                continue
            for pattern in (f"*/{MAIN}", f"*/*/{MAIN}"):
                yield from sorted(one.parent for one in folder.glob(pattern) if not one.parent.name.startswith("."))

    def _skill(self, place: Path) -> SkillFolder:
        """Read a skill. Raises OSError, ValueError, OutOfReach for what cannot be served."""
        if not _NAME.fullmatch(place.name):
            raise ValueError("its folder has no name of a skill: a-z, 0-9 and single hyphens, 64 at most")
        main = self.content(place, MAIN).decode()
        head = _head(main)
        if head.get("name") != place.name:
            raise ValueError(f"it calls itself {str(head.get('name'))[:80]!r}, and its folder {place.name!r}")
        if not isinstance(head.get("description"), str) or not head["description"].strip():
            raise ValueError("it has no description")
        json.dumps(head, allow_nan=False)  # a client is told them so, and compares
        paths = [MAIN, *(one for one in _below(place) if one != MAIN)]
        if len(paths) > _FILES:
            raise ValueError(f"it has more than {_FILES} files")
        files = [self._file(place, path) for path in paths]
        if sum(one.size for one in files) > _BYTES:
            raise ValueError(f"it has more than {_BYTES:,} bytes")
        return SkillFolder(name=place.name, place=place, head=head, files=files)

    def _file(self, place: Path, path: str) -> SkillFile:
        status = (place / path).stat(follow_symlinks=False)
        mark = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        key = str(place / path)
        known = self._known.get(key)
        if known is None or known[0] != mark:
            held = self.content(place, path)
            mark = (status.st_ino, len(held), *mark[2:])
            known = self._known[key] = (mark, f"sha256:{hashlib.sha256(held).hexdigest()}")
        uri = f"skill://{place.name}/{quote(path)}"
        return SkillFile(uri=uri, path=path, size=known[0][1], digest=known[1])

    def content(self, place: Path, path: str) -> bytes:
        """Return what a file holds. Raises OSError, ValueError for one with a secret in it, OutOfReach."""
        from hermes_paths.places import PathRules, open_path

        rules = PathRules(cwd=str(place), roots=(place,), guarded=self._guarded)
        with os.fdopen(open_path(f"./{path}", rules), "rb") as file:
            held = file.read(_BYTES + 1)
        if len(held) > _BYTES:
            raise ValueError(f"{path} has more than {_BYTES:,} bytes")
        if self._leaks(held.decode(errors="replace")):
            raise ValueError(f"{path} holds a secret of yours")
        return held


def _below(place: Path) -> list[str]:
    """Return the files of a skill, without links and what is hidden."""
    found: list[str] = []
    for folder, folders, files in os.walk(place):
        folders[:] = sorted(one for one in folders if not one.startswith(".") and one not in _PASSED_OVER)
        inside = Path(folder)
        found += [
            (inside / one).relative_to(place).as_posix()
            for one in sorted(files)
            if not one.startswith(".") and not (inside / one).is_symlink()
        ]
        if len(found) > _FILES:
            break
    return found


def _head(text: str) -> Mapping[str, Any]:
    from hermes_yaml_edit.document import Document, Unreadable

    found = _HEAD.match(text)
    if not found:
        raise ValueError(f"{MAIN} does not begin with frontmatter: a line ---, the fields, a line ---")
    try:
        return dict(Document(f"\n{found[1]}", MAIN).data)
    except Unreadable as error:
        raise ValueError("; ".join(error.problems)) from error
