"""What probes reach for: files, sockets and a process of this machine, made for it and taken away again."""

import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

__all__ = ["canaries"]


@contextmanager
def canaries(hermes: str | Path) -> Iterator[Mapping[str, Any]]:
    """Make them, and say where they are, and what this machine is known by.

    ``hermes`` is the home of Hermes; empty: a folder of theirs stands for it.
    """
    person = Path(os.path.expanduser("~"))  # noqa: PTH111
    with ExitStack() as stack:
        outside = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hermes-outside-")))
        (outside / "file").write_text("canary")
        (outside / "empty").mkdir()
        key = person / ".ssh" / "id_probe"
        made = not key.parent.exists()
        key.parent.mkdir(mode=0o700, exist_ok=True)
        if not key.exists():
            key.write_text("canary")
            stack.callback(_forget, key, made)
        victim = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        stack.callback(victim.wait)
        stack.callback(victim.kill)
        told: dict[str, Any] = {"outside": str(outside), "person": str(person), "hermes": str(hermes or outside)}
        told |= {"pid": os.getpid(), "victim": victim.pid, **_this_machine(os.getpid(), victim.pid)}
        _listen(stack, told, outside)
        told["memory"] = stack.enter_context(_shared(told["abstract"]))
        yield told


def _this_machine(*pids: int) -> Mapping[str, Any]:
    """By what a place is told from this machine: its programs, its network, and who has the numbers of processes."""
    usr = os.stat("/usr")  # noqa: PTH116
    spaces, lines = {"net": "", "pid": ""}, [""] * len(pids)
    with suppress(OSError):  # no /proc, as on macOS
        spaces = {kind: os.readlink(f"/proc/self/ns/{kind}") for kind in spaces}  # noqa: PTH115
        lines = [_line(pid) for pid in pids]
    return {"usr": f"{usr.st_dev}:{usr.st_ino}", "spaces": spaces, "lines": lines}


def _line(pid: int) -> str:
    """The words of a process, as ``tr -d '\\0'`` shows them; one that was just started has none for a moment."""
    text = ""
    for _ in range(1000):
        if text := Path(f"/proc/{pid}/cmdline").read_text(errors="replace").replace("\0", ""):
            break
        time.sleep(0.001)
    return text


def _listen(stack: ExitStack, told: dict[str, Any], outside: Path) -> None:
    """Servers of this machine that take connections and answer nothing."""
    for name, family, host in (
        ("port", socket.AF_INET, "127.0.0.1"),
        ("any", socket.AF_INET, "0.0.0.0"),  # noqa: S104 - a canary, for seconds, that answers nothing
        ("six", socket.AF_INET6, "::1"),
    ):
        listener = stack.enter_context(socket.socket(family))
        try:
            listener.bind((host, 0))
            listener.listen()
            told[name] = listener.getsockname()[1]
        except OSError:  # a machine without IPv6
            told[name] = 9
    for name, kind in (("socket", socket.SOCK_STREAM), ("datagrams", socket.SOCK_DGRAM)):
        unix = stack.enter_context(socket.socket(socket.AF_UNIX, kind))
        unix.bind(str(outside / name))
        if kind == socket.SOCK_STREAM:
            unix.listen()
    told["abstract"] = f"hermes-probe-{uuid4().hex}"
    abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
    abstract.bind(f"\0{told['abstract']}")
    abstract.listen()


@contextmanager
def _shared(name: str) -> Iterator[int]:
    """Memory that all programs of this user can reach: by a name, and by a number, which this is."""
    import ctypes

    libc, key = ctypes.CDLL(None, use_errno=True), int.from_bytes(os.urandom(3), "big") + 1
    known = libc.shmget(key, 4096, 0o1600)  # made, for this user
    named = Path("/dev/shm", name)  # noqa: S108
    try:
        with suppress(OSError):
            named.touch(0o600)
        yield key
    finally:
        named.unlink(missing_ok=True)
        if known >= 0:
            libc.shmctl(known, 0, None)


def _forget(key: Path, folder: bool) -> None:
    key.unlink(missing_ok=True)
    if folder:
        key.parent.rmdir()
