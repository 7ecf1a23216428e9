"""What is in a folder: the files a snapshot takes, those it leaves out and why, and modes that git does not keep."""

import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from attrs import Factory

from hermes_core.values import frozen
from hermes_paths.unsaved import is_secret
from hermes_tool_checkpoints.config import Config
from hermes_tool_checkpoints.git import Git, GitFailed

_NESTED = 200  # repositories inside the folder


class TooMuch(GitFailed):
    """The folder holds more than a snapshot may; it will for a while."""


@frozen(kw_only=True)
class Contents:
    """The files to take, as git names them; ``skipped`` says of others why not; ``modes`` are those git forgets."""

    wanted: frozenset[bytes]
    skipped: Mapping[str, str] = Factory(dict)
    modes: Mapping[str, int] = Factory(dict)

    def facts(self) -> bytes:
        """Skipped files and modes as bytes that are the same for the same facts."""
        data = {"skipped": self.skipped, "modes": self.modes}
        return json.dumps(data, sort_keys=True, separators=(",", ":")).encode("ascii")


def look(git: Git, config: Config, closed: Iterable[Path]) -> Contents:
    """Look through the folder of ``git``. ``closed`` are folders never looked into.

    Raises TooMuch, and GitFailed when it takes too long.
    """
    found = set(_files(git, b"", git.folder))
    tracked = git.of_the_project("ls-files", "-z", "-c", "-i", "--exclude-standard").split(b"\0")
    found |= {path for path in filter(None, tracked) if _is_direct(git.folder, path)}
    closed_below = [os.fsencode(c.relative_to(git.folder)) + b"/" for c in closed if git.folder in c.parents]
    found = {p for p in found if not p.startswith(tuple(closed_below))}
    if len(found) > config.max_files:
        raise TooMuch(f"the folder has {len(found):,} files, {config.max_files:,} is the most")
    git.job.left  # noqa: B018 - raises when it took too long
    wanted, skipped, modes, total = set[bytes](), dict[str, str](), dict[str, int](), 0
    for path in found:
        status = _status(git.folder, path)
        if status is None:
            continue
        name, reason = os.fsdecode(path), _reason(git.folder, path, status, config)
        if reason:
            skipped[name] = reason
            continue
        wanted.add(path)
        total += status.st_size
        if stat.S_ISREG(status.st_mode) and (mode := stat.S_IMODE(status.st_mode)) not in (0o644, 0o755):
            modes[name] = mode
    if total > config.max_total_size_mb * 1_000_000:
        most = f"tools.checkpoints.max_total_size_mb is {config.max_total_size_mb}"
        raise TooMuch(f"the folder holds {total // 1_000_000:,} MB, and {most}")
    return Contents(wanted=frozenset(wanted), skipped=skipped, modes=modes)


def _files(git: Git, prefix: bytes, folder: Path, depth: int = 0) -> Iterator[bytes]:
    """Every file that is not ignored, those of repositories inside the folder too. Links are not followed."""
    listing = git("ls-files", "-z", "-o", "--exclude-standard", index=Path("/nonexistent/index"), folder=folder)
    nested = 0
    for path in filter(None, listing.split(b"\0")):
        if not path.endswith(b"/"):
            yield prefix + path
        elif depth < 8 and nested < _NESTED:
            nested += 1
            yield from _files(git, prefix + path, folder / os.fsdecode(path), depth + 1)


def _is_direct(folder: Path, path: bytes) -> bool:
    """Whether no link leads to a file that the project's repository knows, though its .gitignore names it."""
    parent = (folder / os.fsdecode(path)).parent
    return parent.resolve() == parent


def _status(folder: Path, path: bytes) -> os.stat_result | None:
    """What is at a path, unless it is reached through a link or has gone meanwhile."""
    try:
        status = (folder / os.fsdecode(path)).lstat()
    except OSError:
        return None
    return status if stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode) else None


def _reason(folder: Path, path: bytes, status: os.stat_result, config: Config) -> str:
    name = os.fsdecode(path)
    if stat.S_ISLNK(status.st_mode):
        return ""
    if not config.keep_secrets and is_secret(os.path.basename(name)):  # noqa: PTH119 - 50,000 times
        return "it holds secrets"
    if status.st_size > config.max_file_size_mb * 1_000_000:
        return f"larger than {config.max_file_size_mb} MB"
    if not status.st_mode & 0o400 or status.st_uid != os.geteuid():
        return "" if os.access(folder / name, os.R_OK) else "it cannot be read"
    return ""
