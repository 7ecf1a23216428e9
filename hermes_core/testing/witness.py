"""A witness of what a plugin reaches for: hosts, programs, files. It reports; it does not stop anything.

Python's audit hooks cannot be removed, so there is one for the process and it is idle while nobody watches.
"""

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from fnmatch import fnmatch
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Protocol, Self

__all__ = ["Watcher", "Witness", "off_the_record", "watchers"]

_silent: ContextVar[bool] = ContextVar("hermes_witness_silent", default=False)

_STARTS = {"subprocess.Popen": 0, "os.exec": 0, "os.posix_spawn": 0, "os.spawn": 1, "pty.spawn": 0}
_CHANGES = {"os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod"}
_TWO_PATHS = {"os.rename", "os.link", "os.symlink"}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


@contextmanager
def off_the_record() -> Iterator[None]:
    """What happens inside is the test's own doing and not held against the plugin; for fakes that do I/O."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


class Watcher(Protocol):
    """Sees every audit event of the process."""

    def see(self, event: str, arguments: Sequence[Any], /) -> None:
        """Take note of one."""


class Witness:
    """Watches the process while it is entered, and lists what the manifest does not disclose.

    Loopback addresses, the temporary folder, Python's own files and ``roots`` are always fine. With ``strict``
    every connection, program and write is listed, disclosed or not; for what must do no I/O at all.
    """

    def __init__(
        self,
        *,
        hosts: Iterable[str] = (),
        programs: Iterable[str] = (),
        paths: Iterable[str] = (),
        roots: Iterable[Path] = (),
        strict: bool = False,
    ) -> None:
        self._hosts = tuple(hosts)
        self._programs = tuple(programs)
        self._paths = tuple(str(Path(p).expanduser()) for p in paths)
        self._roots = (*_own_roots(), *(os.path.realpath(r) for r in roots))
        self._strict = strict
        self._resolved = False
        self.hosts: list[str] = []
        self.programs: list[str] = []
        self.written: list[str] = []
        self.read: list[str] = []

    def __enter__(self) -> Self:
        watchers().append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        watchers().remove(self)

    @property
    def findings(self) -> list[str]:
        """One sentence for each thing that was not disclosed, with the manifest line that would disclose it."""
        return [
            *(f"it connects to {h}; disclose it: [permissions] network = [{h!r}]" for h in _unique(self.hosts)),
            *(f"it starts {p}; disclose it: [permissions] processes = [{p!r}]" for p in _unique(self.programs)),
            *(f"it changes {f}; disclose it: [permissions] files = [{f!r}]" for f in _unique(self.written)),
            *(f"it reads {f}; disclose it: [permissions] files = [{f!r}]" for f in _unique(self.read)),
        ]

    def see(self, event: str, arguments: Sequence[Any]) -> None:
        """Take note of one audit event."""
        if event == "open":
            self._see_open(*arguments)
        elif event in _STARTS:
            self._see_program(arguments[_STARTS[event]])
        elif event == "os.system":
            self._see_program("sh")
        elif event in ("socket.connect", "socket.sendto", "socket.bind"):
            self._see_address(arguments[1], bound=event == "socket.bind")
        elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
            self._see_host(arguments[0])
        elif event in _CHANGES:
            for path in arguments[: 2 if event in _TWO_PATHS else 1]:
                self._see_write(path)

    def _see_program(self, program: Any) -> None:
        name = Path(os.fsdecode(program)).name if isinstance(program, str | bytes | os.PathLike) else str(program)
        if self._strict or not _matches(name, self._programs):
            self.programs.append(name)

    def _see_address(self, address: Any, *, bound: bool) -> None:
        if isinstance(address, str | bytes):  # a Unix socket is a file
            self._see_write(address)
        elif isinstance(address, tuple) and address and (self._strict or not bound):
            host = str(address[0])
            if self._strict or not (self._resolved or _is_loopback(host)):
                self._see_host(host)

    def _see_host(self, host: Any) -> None:
        name = os.fsdecode(host) if isinstance(host, str | bytes) else ""
        if not self._strict and (not name or _is_loopback(name)):
            return
        if not self._strict and _matches(name, self._hosts):
            self._resolved = True  # the addresses behind a disclosed name are disclosed with it
        else:
            self.hosts.append(name)

    def _see_open(self, path: Any, mode: Any, flags: Any) -> None:
        if isinstance(path, int):
            return
        writing = bool(isinstance(flags, int) and flags & _WRITING) or any(c in (mode or "") for c in "wax+")
        if writing:
            self._see_write(path)
        elif not self._strict:
            self._see_read(path)

    def _see_write(self, path: Any) -> None:
        if isinstance(path, int):
            return
        real = os.path.realpath(os.fsdecode(path))
        if _is_bytecode(real) or real in ("/dev/null", "/dev/tty") or real.startswith(("/dev/pt", "/proc/self")):
            return
        if self._strict or not self._may_touch(real):
            self.written.append(real)

    def _see_read(self, path: Any) -> None:
        real = os.path.realpath(os.fsdecode(path))
        if _inside(real, (_home(),)) and not self._may_touch(real) and not _inside(real, _import_roots()):
            self.read.append(real)

    def _may_touch(self, real: str) -> bool:
        return _inside(real, self._roots) or any(fnmatch(real, p) or _inside(real, (p,)) for p in self._paths)


@cache
def watchers() -> list[Watcher]:
    """Who watches this process."""
    found: list[Watcher] = []

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if found and not _silent.get():
            with off_the_record():  # looking into it opens files itself
                for witness in tuple(found):
                    witness.see(event, arguments)

    sys.addaudithook(hook)
    return found


def _own_roots() -> tuple[str, ...]:
    return (os.path.realpath(tempfile.gettempdir()),)


def _import_roots() -> tuple[str, ...]:
    places = {*sys.path, sys.prefix, sys.base_prefix}
    return tuple(os.path.realpath(p) for p in places if p)


def _home() -> str:
    return os.path.realpath(Path("~").expanduser())


def _inside(path: str, roots: Iterable[str]) -> bool:
    return any(path == root or path.startswith(root.rstrip(os.sep) + os.sep) for root in roots)


def _is_bytecode(path: str) -> bool:
    return "__pycache__" in path or path.endswith(".pyc")


def _is_loopback(host: str) -> bool:
    if host in ("localhost", ""):
        return True
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)


def _unique(items: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(items))
