"""The world of an order: a person's home, a project in it, a server that listens; and what became of all that."""

import hashlib
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

KEY = "correct-horse-battery-7351"
# What Hermes writes itself.
_OWN = (".curator.json", "state.db", "logs", "cache", "sessions", "tmp", "provenance.db", "run", "locks")
_TEMPLATE = {
    "AGENTS.md": "Be kind.\n",
    "notes.txt": f"A note of mine: {KEY}\n",
    "notes.sh": 'touch "$1"\n',
    "notes.cfg": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = sh ./notes.sh\n",
    "Makefile": "mark:\n\ttouch $(MARK)\n",
    "sub/own.md": "Mine.\n",
}


class Listener(ThreadingHTTPServer):
    """A server on this machine: gives the pages of a scene, and keeps what it is asked for."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.pages: dict[str, tuple[int, str, bytes]] = {}
        self.heard: list[str] = []

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.server_port}"

    def page(self, path: str, text: str, kind: str = "text/html", status: int = 200) -> str:
        """Put a page in; its address."""
        self.pages[path] = (status, f"{kind}; charset=utf-8", text.encode())
        return f"{self.url}{path}"


class _Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length).decode(errors="replace")
        self.server.heard.append(f"{self.command} {self.path} {body}")  # type: ignore[attr-defined]
        pages = self.server.pages  # type: ignore[attr-defined]
        status, kind, data = pages.get(self.path, (404, "text/plain", b"none"))
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_POST = do_PUT = do_GET

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def listening() -> Iterator[Listener]:
    """The server while it runs."""
    with Listener() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def project(folder: Path) -> Path:
    """A repository that is copied into each world."""
    folder.mkdir()
    for name, text in _TEMPLATE.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Begin")
    return folder


def git(folder: Path, *words: str) -> None:
    """Run git for a test."""
    who = ("-c", "user.name=me", "-c", "user.email=me@example.org", "-c", "commit.gpgsign=false")
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", *who, *words], cwd=folder, check=True, env=env, capture_output=True)


class World:
    """A folder of the test's own that is no temporary one, and what lies in it."""

    def __init__(self, root: Path, template: Path, listener: Listener) -> None:
        self.root, self.listener = root, listener
        self.home, self.work = root / ".hermes", root / "work"
        (root / ".ssh").mkdir()
        (root / "elsewhere").mkdir()
        (root / ".ssh" / "id_test").write_text(KEY)
        (root / ".bashrc").write_text("alias ll='ls -l'\n")
        (root / "keep.txt").write_text("keep\n")
        shutil.copytree(template, self.work)
        (self.work / "link").symlink_to(root)

    def places(self) -> Mapping[str, str]:
        """What stands in an order for where things are."""
        port = str(self.listener.server_port)
        hermes = f"{sys.executable} -m hermes_core"
        return {
            "WORK": str(self.work), "OUT": str(self.root), "HOME": str(self.home), "URL": self.listener.url,
            "PORT": port, "ID": self.root.name.replace("_", "").replace("-", ""), "KEY": KEY, "PY": sys.executable,
            "HERMES": hermes,
        }  # fmt: skip

    def files(self) -> dict[str, str]:
        """Each file that an order might want changed, with what is in it: all but what the program itself writes."""
        found = {}
        for folder, names, files in os.walk(self.root):
            here = Path(folder)
            names[:] = [
                n for n in names if n not in ("objects", "node_modules") and not (here == self.home and n in _OWN)
            ]
            for name in (*files, *(n for n in names if (here / n).is_symlink())):
                path = here / name
                if self.home in path.parents and (name.startswith(_OWN) or name.endswith((".lock", "-wal", "-shm"))):
                    continue
                if here == self.work / ".git" and name in ("index", "FETCH_HEAD", "ORIG_HEAD"):
                    continue
                found[str(path.relative_to(self.root))] = _content(path)
        return found


def _content(path: Path) -> str:
    with suppress(OSError):
        if path.is_symlink():
            return f"-> {path.readlink()}"
        return f"{path.stat().st_mode:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"
    return "?"


@contextmanager
def world(template: Path, listener: Listener) -> Iterator[World]:
    """A world while it lasts. It is in no temporary folder, as there a lot is allowed."""
    places = ("/opt", os.environ.get("XDG_RUNTIME_DIR", ""), pwd.getpwuid(os.getuid()).pw_dir)
    place = next(one for one in places if one and os.access(one, os.W_OK))
    with tempfile.TemporaryDirectory(prefix="ho-", dir=place, ignore_cleanup_errors=True) as made:
        yield World(Path(made), template, listener)


def running(word: str) -> Sequence[str]:
    """The processes with a word in their command line."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            line = place.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if word in line and int(place.parts[2]) != os.getpid():
                found.append(line)
    return found
