"""The commands' own home and their own temporary folder.

Both walls use one folder on disk for a workspace's home, kept from one session to the next: what tools fetch lies in
it, and no other project's commands can reach it. Bubblewrap mounts it where the person's home is; Landlock cannot, so
there ``HOME`` names it, and a link in it leads to the workspace where that lies in the person's home.
"""

import os
import shutil
import stat
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from hermes_backend_wall import beneath
from hermes_backend_wall.plan import home_of
from hermes_core.patterns import pattern

__all__ = ["PREFIX", "Own", "sweep"]

PREFIX = "hermes-wall-"  # of temporary folders; the number of the process that made it follows
# Of the person's settings of git: who they are and what they like; nothing that runs a program or holds a key.
_LIKED = pattern(
    r"user\.(name|email)|(init|pull|push|fetch|rebase|color|column|log|status|branch|help|advice|format|commit)\.[^\n]*"
    r"|core\.(autocrlf|eol|safecrlf|quotepath|abbrev|ignorecase)|merge\.(conflictstyle|ff)|diff\.(algorithm|renames)"
    r"|safe\.directory|alias\.[^\n]*"
)
_RUNS = pattern(
    r"commit\.(gpgsign|template)|format\.(signaturefile|.*cmd)|help\.browser|push\.gpgsign|log\.showsignature"
)


class Own:
    """``root`` is where homes are kept. ``home`` and ``scratch`` are folders once it is opened."""

    def __init__(self, root: Path, source: str, person: str) -> None:
        self.home = home_of(root, source)
        self.scratch = ""
        self._source, self._person = source, person

    def open(self) -> None:
        """Make both, and sweep up what a Hermes left behind that was killed. Raises OSError."""
        os.makedirs(self.home, mode=0o700, exist_ok=True)  # noqa: PTH103
        sweep()
        self.scratch = os.path.realpath(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        # Commands write in this home: a link in the place of the file is replaced, never followed.
        with suppress(OSError):
            if os.path.isdir(f"{self.home}/.gitconfig") and not os.path.islink(f"{self.home}/.gitconfig"):  # noqa: PTH112, PTH114
                beneath.remove(self.home, ".gitconfig")
        beneath.write(self.home, ".gitconfig", _liked(f"{self._person}/.gitconfig").encode(), stat.S_IFREG | 0o600)

    def close(self) -> None:
        """Remove the temporary folder."""
        if self.scratch:
            shutil.rmtree(self.scratch, ignore_errors=True)
            self.scratch = ""

    def lead_back(self, *, mounted: bool) -> None:
        """So that the workspace is found below the home as the person knows it: by a link, or an empty folder to mount
        it on. Raises OSError.
        """
        if not self._source.startswith(f"{self._person}/"):
            return
        inner = os.path.relpath(self._source, self._person)
        above, _, name = inner.rpartition("/")
        try:
            beneath.make(self.home, above)
        except OSError:  # a link or a file of theirs stands in the way: it is theirs to lose, and leads us nowhere
            beneath.remove(self.home, inner.partition("/")[0])
            beneath.make(self.home, above)
        with beneath.folder(self.home, above) as place:
            with suppress(OSError):
                os.unlink(name, dir_fd=place)
            if mounted:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=place)
                return
            with suppress(OSError):  # something else of theirs is there
                os.rmdir(name, dir_fd=place)
            with suppress(FileExistsError):
                os.symlink(self._source, name, dir_fd=place)


def sweep() -> None:
    """Remove the temporary folders of a Hermes that was killed."""
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        pid = left.name.removeprefix(PREFIX).partition("-")[0]
        if pid.isdigit() and not Path("/proc", pid).exists():
            shutil.rmtree(left, ignore_errors=True)


def _liked(path: str) -> str:
    """The settings of git that commands have too, as a file's text."""
    if not os.path.isfile(path):  # noqa: PTH113
        return ""
    with suppress(OSError, subprocess.SubprocessError):
        words = ("git", "config", "--no-includes", "--file", path, "--null", "--list")
        listed = subprocess.run(words, capture_output=True, check=False, timeout=5, cwd="/").stdout.decode(
            errors="replace"
        )
        return "".join(_line(*entry.partition("\n")[::2]) for entry in listed.split("\0") if "\n" in entry)
    return ""


def _line(name: str, value: str) -> str:
    if not _LIKED.fullmatch(name.lower()) or _RUNS.fullmatch(name.lower()):
        return ""
    if name.startswith("alias.") and value.lstrip().startswith("!"):
        return ""
    section, _, rest = name.partition(".")
    sub, _, key = rest.rpartition(".")
    quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    head = f'[{section} "{_escaped(sub)}"]' if sub else f"[{section}]"
    return f'{head}\n\t{key} = "{quoted}"\n'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
