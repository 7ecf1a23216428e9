"""The place of a browser that is started here: a folder of its own, the wall around it, and the way out of that.

Chromium keeps pages apart and in bounds by a sandbox of its own, which needs user namespaces and no root. Around all of
it stands bubblewrap: no file of the person's, no network but the way out, no process but its own. Playwright starts a
script that leads in there, and speaks through two pipes, so nothing else on this machine can drive the browser.
"""

import asyncio
import contextlib
import os
import shlex
import socket
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hermes_backend_wall import bwrap
from hermes_backend_wall.interpreter import python
from hermes_backend_wall.system import ETC, MACHINE, OPTIONAL, STORES, SYSTEM
from hermes_core.context import UrlRules
from hermes_core.environment import MARK
from hermes_core.errors import ToolError, UserError
from hermes_tool_browser import scratch
from hermes_tool_browser.config import Config
from hermes_tool_browser.wayout import WayOut

__all__ = ["Place", "wall_of"]

_UP = 30.0  # seconds until the browser's first process is there
_WAY = "/run/way"  # inside
_TEMPORARY = 1_000_000_000  # bytes of its profile and cache, which lie in memory and end with it
_FLAGS = (
    "--proxy-bypass-list=<-loopback>",  # this machine's own services are judged as any other
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--renderer-process-limit=8",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-pings",
)


def wall_of(config: Config) -> str:
    """The wall that a browser gets here: ``bubblewrap``, ``chromium`` (its own sandbox alone) or ``none``.

    Raises ToolError where there would be none and nobody said that it may be so.
    """
    if config.wall == "none":
        return "none"
    if sys.platform == "linux" and bwrap.likely():
        return "bubblewrap"
    if os.getuid() == 0:
        raise ToolError(
            "A browser is not started as root without a wall.",
            hint=f"{bwrap.INSTALL} In a container that is a wall itself: hermes config set tools.browser.wall none",
            retry=False,
        )
    return "chromium"


class Place:
    """Open it before the browser is launched with ``options``, and close it behind the browser."""

    def __init__(self, program: str, config: Config, urls: UrlRules) -> None:
        self._program, self._config = program, config
        self.wall = wall_of(config)
        self._mark = os.urandom(16).hex()
        token = "" if self.wall == "bubblewrap" else os.urandom(16).hex()
        self.way = WayOut(urls, token)
        self._token, self._port = token, 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._guardian: socket.socket | None = None
        self.ended = ""  # why it was ended from inside
        self.folder = Path()

    async def open(self) -> None:
        """Make the folder and the way out. Raises ToolError."""
        self.folder = scratch.made(self._mark)
        (self.folder / "downloads").mkdir()
        if self.wall != "bubblewrap":
            self._port = await self.way.proxy.listen()
            return
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with _short(self.folder) as folder:
            listener.bind(f"{folder}/way")
        listener.listen(1)
        listener.setblocking(False)
        script = self.folder / "browser"
        try:
            words = self._words()
        except UserError as error:
            raise ToolError(error.text, hint=error.hint, retry=False) from error
        script.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@" 2>"$0.said"\n')
        script.chmod(0o700)
        self._begin(self._serve(listener))

    def options(self) -> dict[str, Any]:
        """What playwright launches it with."""
        known = {name: os.environ[name] for name in ("PATH", "LANG", "DISPLAY", "XAUTHORITY") if name in os.environ}
        home = "/tmp" if self.wall == "bubblewrap" else self.folder  # noqa: S108 - inside, where it is its own
        made: dict[str, Any] = {
            "headless": not self._config.headed,
            "args": list(_FLAGS),
            "ignore_default_args": ["--disable-popup-blocking"],  # one window for each click is enough
            "downloads_path": self.folder / "downloads",
            "artifacts_dir": self.folder / "downloads",
            "chromium_sandbox": self.wall != "none",
            "env": {**known, "HOME": str(home), "TMPDIR": str(home), MARK: self._mark},
            "executable_path": self.folder / "browser" if self.wall == "bubblewrap" else self._program,
            "handle_sigint": False, "handle_sigterm": False, "handle_sighup": False,
        }  # fmt: skip
        if self.wall != "bubblewrap":
            made["proxy"] = {"server": f"http://127.0.0.1:{self._port}", "username": "hermes", "password": self._token}
        return made

    def _words(self) -> Sequence[str]:
        """The command that leads inside, up to the browser's own arguments."""
        words = [bwrap.program(), "--unshare-user"]
        if os.getuid() == 0:
            words += ["--uid", "1000", "--gid", "1000"]  # Chromium's own sandbox is none of root's
        words += ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--unshare-cgroup-try"]
        words += ["--hostname", "hermes", "--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL"]
        words += ["--ro-bind", "/usr", "/usr"]
        for path in SYSTEM:
            if os.path.islink(path):  # noqa: PTH114
                words += ["--symlink", os.readlink(path), path]  # noqa: PTH115
            elif os.path.isdir(path):  # noqa: PTH112
                words += ["--ro-bind", path, path]
        for path in (*STORES, *OPTIONAL, *(f"/etc/{name}" for name in ETC)):
            words += ["--ro-bind-try", path, path]
        words += ["--dev", "/dev", "--proc", "/proc", "--dir", "/run"]
        for path in MACHINE:
            if os.path.exists(path):  # noqa: PTH110
                words += ["--ro-bind", "/dev/null", path]
        for path in ("/tmp", "/dev/shm"):  # noqa: S108 - inside
            words += ["--perms", "1777", "--size", str(_TEMPORARY), "--tmpfs", path]
        words += self._shown()
        words += ["--chdir", "/tmp", "--remount-ro", "/", "--"]  # noqa: S108 - inside
        guardian = str(Path(__file__).with_name("inside") / "guardian.py")
        words += [python()[0], "-I", "-S", "-B", guardian, _WAY]
        return [*words, str(self._config.memory_mb << 20), str(self._config.download_mb << 20), self._program]

    def _shown(self) -> Sequence[str]:
        """What it sees beside the system: its program, the guardian and its Python; its downloads, which it writes."""
        program = Path(os.path.realpath(self._program)).parent
        wanted = [str(program), python()[1], str(Path(__file__).with_name("inside"))]
        words = []
        for path in wanted:
            if not path.startswith("/usr/") and path != "/usr":
                words += ["--ro-bind", path, path]
        if os.path.exists("/tmp/.X11-unix") and self._config.headed:  # noqa: PTH110, S108
            words += ["--ro-bind", "/tmp/.X11-unix", "/tmp/.X11-unix"]  # noqa: S108
        words += ["--perms", "0700", "--tmpfs", str(self.folder)]
        words += ["--bind", str(self.folder / "downloads"), str(self.folder / "downloads")]
        return [*words, "--bind", str(self.folder / "way"), _WAY]

    def _begin(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, door: socket.socket) -> None:
        """Take the socket that the guardian listens on, and what connects there, until it ends."""
        loop = asyncio.get_running_loop()
        with door:
            async with asyncio.timeout(_UP):
                guardian, _ = await loop.sock_accept(door)
        self._guardian = guardian
        guardian.setblocking(False)
        ready = asyncio.Event()
        loop.add_reader(guardian, ready.set)
        await ready.wait()
        loop.remove_reader(guardian)
        _, fds, _, _ = socket.recv_fds(guardian, 1, 1)
        if not fds:
            return
        with socket.socket(fileno=fds[0]) as listener:
            listener.setblocking(False)
            self._begin(self._hear(guardian))
            while True:
                try:
                    sock, _ = await loop.sock_accept(listener)
                except OSError:  # no descriptor is free just now, or the caller has gone already
                    await asyncio.sleep(0.1)
                    continue
                self._begin(self.way.proxy.serve(sock))

    async def _hear(self, guardian: socket.socket) -> None:
        if await asyncio.get_running_loop().sock_recv(guardian, 16) == b"m":
            self.ended = f"it used more than {self._config.memory_mb:,} MB of memory and was ended"

    def complaint(self) -> str:
        """What the wall said when it did not stand."""
        with contextlib.suppress(OSError):
            said = (self.folder / "browser.said").read_text(errors="replace")
            if said.startswith("bwrap"):
                return bwrap.explain(bwrap.program(), said, "").text
            return next((line[:300] for line in said.splitlines() if "FATAL" in line), "")
        return ""

    async def close(self) -> None:
        """End what is left inside, and take the folder away."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._guardian is not None:
            self._guardian.close()  # it ends by that, and all inside with it
        await self.way.close()
        if self.wall != "bubblewrap":
            scratch.end_marked(self._mark)
        scratch.removed(self.folder)


@contextlib.contextmanager
def _short(folder: Path) -> Iterator[str]:
    """A short name of a folder: that of a socket may have a hundred bytes."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{fd}"
    finally:
        os.close(fd)
