"""The git branch of a folder, read from its files: no process is started for a line that is always there."""

import re
from pathlib import Path

from hermes_platform_tui.look.skin import UNSAFE

__all__ = ["git_branch"]

_LARGEST = 4096
_HEADS = "refs/heads/"


def git_branch(cwd: str) -> str:
    """The branch, the first seven digits of a detached commit, or nothing outside a repository."""
    try:
        start = Path(cwd).absolute()
        for folder in (start, *start.parents):
            git = folder / ".git"
            if git.is_dir():
                return _head(git)
            if git.is_file():  # a worktree or a submodule: the file says where the repository is
                told = _line(git)
                return _head(folder / told.removeprefix("gitdir:").strip()) if told.startswith("gitdir:") else ""
    except (OSError, ValueError):
        pass
    return ""


def _head(git: Path) -> str:
    head = _line(git / "HEAD")
    if head.startswith("ref:"):
        ref = head.removeprefix("ref:").strip()
        # With the reftable format HEAD is a stand-in that names no branch.
        return "" if ref == _HEADS + ".invalid" else UNSAFE.sub("", ref.removeprefix(_HEADS))[:200]
    return head[:7] if re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", head) else ""


def _line(path: Path) -> str:
    with path.open("rb") as file:
        first = file.read(_LARGEST).partition(b"\n")[0]
    return first.decode("utf-8", "replace").strip()
