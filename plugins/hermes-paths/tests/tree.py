"""The folder that the forms of `paths.jsonl` are tried in."""

import os
import socket
from pathlib import Path

from hermes_paths.places import PathRules

GUARDED = (".env", "config.yaml", "state.db", "state.db-wal", "plugins")


class Tree:
    """``work`` is where tools work; ``home/.hermes`` is guarded; ``outside`` is neither."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.work, self.home, self.outside = base / "work", base / "home", base / "outside"
        self.hermes, self.alias = self.home / ".hermes", base / "alias"

    @property
    def rules(self) -> PathRules:
        return PathRules(cwd=str(self.work), home=str(self.home), guarded=[self.hermes / name for name in GUARDED])

    def text(self, path: str) -> str:
        for name in ("work", "home", "outside", "hermes", "alias"):
            path = path.replace(f"{{{name}}}", str(getattr(self, name)))
        return path

    def file(self, path: Path) -> None:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(str(path.relative_to(self.base)))

    def plant(self, names: list[str]) -> None:
        for name in (*names, "work/a.txt", "work/sub/b.txt", "outside/secret.txt", "home/notes.txt"):
            self.file(self.base / name)
        for name in (".env", "config.yaml", "state.db", "plugins/x.py", "plugins/sub/deep.py"):
            self.file(self.hermes / name)
        links = {
            "link_in": "sub/b.txt", "link_abs": self.work / "a.txt", "link_link": "link_in", "dirlink_in": "sub",
            "link_up": "sub/../a.txt", "dirlink_out": "../outside", "link_out": "../outside/secret.txt",
            "link_chain_out": "link_out", "sub/link_out": "../link_out", "dangling": "nowhere", "loop": "loop",
            "loop1": "loop2", "loop2": "loop1", "loopdir": "loopdir", "link_dev": "/dev/zero", "dirlink_dev": "/dev",
            "link_environ": "/proc/self/environ", "dirlink_proc": "/proc/self", "link_fifo": "fifo",
            "link_env": self.hermes / ".env", "link_link_env": "link_env", "dirlink_hermes": self.hermes,
            "dirlink_plugins": self.hermes / "plugins", "link_hard": "hard",
            "link_new_plugin": self.hermes / "plugins/new.py",
        }  # fmt: skip
        for name, target in links.items():
            (self.work / name).symlink_to(target)
        self.alias.symlink_to(self.hermes)
        os.link(self.hermes / ".env", self.work / "hard")
        os.link(self.hermes / "state.db", self.work / "sub" / "hard_store")
        os.link(self.hermes / "plugins" / "x.py", self.work / "hard_plugin")
        self.file(self.work / "hard_fine")
        os.link(self.work / "hard_fine", self.work / "hard_fine_too")
        os.mkfifo(self.work / "fifo")
        here = Path.cwd()
        os.chdir(self.work)  # the path of a socket must be short
        try:
            with socket.socket(socket.AF_UNIX) as server:
                server.bind("sock")
        finally:
            os.chdir(here)
