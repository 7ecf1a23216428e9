"""What is visible inside the sandbox, as arguments for bwrap.

Everything is named; nothing is taken away from a whole. What is not listed here does not exist inside.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from hermes_backend_bubblewrap.config import Config
from hermes_backend_wall.interpreter import python
from hermes_backend_wall.protected import fixed
from hermes_backend_wall.system import path_of_programs
from hermes_backend_wall.words import Bind, Words, outermost
from hermes_core.errors import UserError
from hermes_core.types import Folder

HOSTNAME = "sandbox"


class View:
    """Puts what is visible into the arguments for bwrap."""

    def __init__(
        self,
        words: Words,
        folder: str,
        source: str,
        config: Config,
        hidden: Iterable[Path],
        offered: Iterable[Path] = (),
        also: Sequence[Folder] = (),
    ) -> None:
        """``folder`` is the session's folder as it was named, ``source`` the same without links.

        Of ``offered`` those folders can be read that are there. ``also`` are folders of others.
        """
        self.folder = folder
        self._words = words
        self._source = source
        self._config = config
        self._hidden = outermost(hidden)
        self._also = also
        self._offered = [str(path) for path in offered if path.is_dir()]
        self.home = os.path.normpath(os.path.expanduser("~"))  # noqa: PTH111 - a path inside

    def build(self) -> None:
        """Collect everything. Raises UserError for what is configured and not there."""
        network = self._config.network
        self._words.namespaces(HOSTNAME, network=network)
        self._words.system()
        self._words.etc(self.home, HOSTNAME, network=network)
        self._words.devices()
        self._scratch()
        offered = [Bind(path, os.path.realpath(path), writable=False) for path in self._offered]
        theirs = [Bind(one.path, one.path, writable=one.writes) for one in self._also]
        binds = [*offered, *listed(self._config), *theirs, Bind(self.folder, self._source, writable=True)]
        self._words.everything(binds)
        self._git()
        for path in (path for one in theirs if one.writable for path in fixed(one.path)):
            self._words.bind(Bind(path, path, writable=False))
        self._words.hide(self._hidden, binds)
        self._words.add("--remount-ro", "/dev", "--remount-ro", "/")

    def _scratch(self) -> None:
        size = ["--size", str(self._config.tmp_mb << 20)]
        for path, mode in (("/dev/shm", "1777"), ("/tmp", "1777"), ("/var/tmp", "1777"), (self.home, "0700")):  # noqa: S108
            if path != "/":
                self._words.add("--perms", mode, *size, "--tmpfs", path)

    def _git(self) -> None:
        """Keep hooks and settings of git, which the person's own git would run, from being written."""
        git, there = f"{self._source}/.git", f"{self.folder}/.git"
        if self._config.git == "writable" or os.path.islink(git) or not os.path.exists(git):  # noqa: PTH110, PTH114
            return
        whole = self._config.git == "read-only" or not os.path.isdir(git)  # noqa: PTH112 - a file names another folder
        # As a mount of its own it cannot be moved away and replaced either.
        self._words.bind(Bind(there, git, writable=not whole))
        if whole:
            return
        for path in guarded_in_git(Path(git)):
            self._words.bind(Bind(f"{there}/{path.relative_to(git)}", str(path), writable=False))

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The variables commands begin with: a few of the person's, none that could be a secret."""
        kept = {name: environ[name] for name in ("LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM") if name in environ}
        kept |= {name: value for name, value in environ.items() if name.startswith("LC_")}
        kept |= {name: environ[name] for name in self._config.env_passthrough if name in environ}
        name = Path(self.home).name or "user"
        shell = next((s for s in ("/bin/bash", "/usr/bin/bash") if os.path.exists(s)), "/bin/sh")  # noqa: PTH110
        kept |= {"HOME": self.home, "USER": name, "LOGNAME": name, "SHELL": shell}
        return kept | {"PATH": path_of_programs(environ.get("PATH", ""), self._words.places, python()[1])}


def listed(config: Config) -> list[Bind]:
    """What the user wants to be visible besides. Raises UserError for what is not there."""
    found = []
    for key in ("readable", "writable"):
        for text in getattr(config, key):
            path = os.path.normpath(os.path.expanduser(text))  # noqa: PTH111
            if not path.startswith("/") or path == "/":
                raise UserError(f"backends.bubblewrap.{key}: {text} cannot be shown inside.", hint="Name a folder.")
            if not os.path.exists(path):  # noqa: PTH110
                raise UserError(f"backends.bubblewrap.{key}: {text} does not exist.", hint="Make it, or remove it.")
            found.append(Bind(path, os.path.realpath(path), writable=key == "writable"))
    return found


def guarded_in_git(git: Path) -> list[Path]:
    """Hooks and settings of a repository and its submodules; real files and folders only."""
    repositories = [git]
    with suppress(OSError):
        repositories += [path.parent for path in sorted((git / "modules").rglob("config"))[:100] if path.is_file()]
    names = ("config", "config.worktree", "hooks")
    found = [repository / name for repository in repositories for name in names]
    return [path for path in found if path.exists() and os.path.realpath(path) == str(path)]
