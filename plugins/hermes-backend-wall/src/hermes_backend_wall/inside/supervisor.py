"""Answers the calls of commands that neither Landlock nor a filter can judge: addresses and paths stand in memory.

The filter stops such a call and tells us (seccomp user notification). What it names is copied out of the caller's
memory once; the decision is made on that copy, and the call is made here, on the caller's own socket or on a
descriptor of the very file that was judged. So nothing that the caller changes in the meantime changes what happens.
A supervisor that is gone means that all these calls fail.

A file may be changed below ``writable`` only, and a folder be watched there and below ``readable``. A socket is reached
when it lies below ``writable`` too, when it is an abstract one of this session, or when it is TCP on loopback to a port
that this session listens on or to the door; what listens is put on loopback. Processes of this session alone are
scheduled.
"""

# ruff: noqa: PTH101, PTH115 - pathlib costs more than the rest

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import stat
import struct
import sys
import threading
from pathlib import Path

from hermes_backend_wall.inside import kernel
from hermes_backend_wall.inside.caller import CWD, NO_FOLLOW, Caller, Refused, signed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hermes_backend_wall.inside.door import Door

__all__ = ["Supervisor"]

_RECEIVE, _SEND = 0xC0502100, 0xC0182101  # SECCOMP_IOCTL_NOTIF_*
_CALL = struct.Struct("=QIIiIQ6Q")  # seccomp_notif
_ANSWER = struct.Struct("=QqiI")  # seccomp_notif_resp
_GO_ON = 1  # SECCOMP_USER_NOTIF_FLAG_CONTINUE
_UNCHANGED = 0xFFFFFFFF  # -1 as an owner
_DONT_FOLLOW = 0x02000000  # IN_DONT_FOLLOW
_INET = (socket.AF_INET, socket.AF_INET6)


class _GoOn(Exception):
    pass


class Supervisor:
    """``fd`` is the filter's descriptor; ``calls`` are the names of system calls by number."""

    def __init__(
        self, fd: int, calls: Mapping[int, str], writable: Sequence[str], readable: Sequence[str], door: Door | None
    ) -> None:
        self._fd = fd
        self._writable, self._readable = tuple(writable), (*readable, *writable)
        self._door = door
        self._listening: set[int] = set()  # inodes of sockets that listen
        self._abstract: dict[bytes, int] = {}  # inodes of those with a name, by it
        known: Mapping[str, Callable[[Caller, Sequence[int]], int | None]] = {
            "bind": self._bind,
            "listen": self._listen,
            "connect": self._connect,
            "chmod": lambda who, a: self._mode(who.file(CWD, a[0], 0), a[1]),
            "fchmod": lambda who, a: self._mode(who.opened(a[0]), a[1]),
            "fchmodat": lambda who, a: self._mode(who.file(a[0], a[1], 0), a[2]),
            "fchmodat2": lambda who, a: self._mode(who.file(a[0], a[1], a[3]), a[2]),
            "chown": lambda who, a: self._owner(who.file(CWD, a[0], 0), a[1], a[2]),
            "lchown": lambda who, a: self._owner(who.file(CWD, a[0], NO_FOLLOW), a[1], a[2]),
            "fchown": lambda who, a: self._owner(who.opened(a[0]), a[1], a[2]),
            "fchownat": lambda who, a: self._owner(who.file(a[0], a[1], a[4]), a[2], a[3]),
            "utimensat": self._times,
            "inotify_add_watch": self._watch,
            "setpriority": lambda _, a: self._schedule(a[1], alone=a[0] == 0),
            "ioprio_set": lambda _, a: self._schedule(a[1], alone=a[0] == 1),
            "sched_setparam": lambda _, a: self._schedule(a[0]),
            "sched_setscheduler": lambda _, a: self._schedule(a[0]),
            "sched_setaffinity": lambda _, a: self._schedule(a[0]),
            "sched_setattr": lambda _, a: self._schedule(a[0]),
        }
        self._works = {number: known[name] for number, name in calls.items()}
        self._waits = {number for number, name in calls.items() if name == "connect"}

    def serve(self) -> bool:
        """Answer one call; whether there may be more."""
        asked = bytearray(_CALL.size)
        try:
            fcntl.ioctl(self._fd, _RECEIVE, asked)
        except OSError as error:
            # The caller is gone already, or a signal came; else nobody is left to ask.
            return error.errno in (errno.ENOENT, errno.EINTR)
        ident, pid, _, number, _, _, *words = _CALL.unpack(asked)
        task = (Caller(self._fd, ident, pid), ident, self._works[number], words)
        if number in self._waits:  # for who listens there
            try:
                threading.Thread(target=self._answer, args=task, daemon=True).start()
            except RuntimeError:  # no more processes for this user, or for this sandbox: that ends nobody
                self._send(ident, 0, errno.EAGAIN, 0)
        else:
            self._answer(*task)
        return True

    def _answer(
        self, who: Caller, ident: int, work: Callable[[Caller, Sequence[int]], int | None], words: Sequence[int]
    ) -> None:
        number = flags = value = 0
        try:
            value = work(who, words) or 0
        except _GoOn:
            flags = _GO_ON
        except Refused as refused:
            number = refused.number
        except OSError as error:
            number = error.errno or errno.EACCES
        except Exception:  # noqa: BLE001 - what could not be judged is refused, and the next call is heard
            number = errno.EACCES
        self._send(ident, value, number, flags)

    def _send(self, ident: int, value: int, number: int, flags: int) -> None:
        with contextlib.suppress(OSError):  # it was ended in the meantime
            fcntl.ioctl(self._fd, _SEND, _ANSWER.pack(ident, value, -number, flags))

    def _below(self, path: str) -> bool:
        return _is_below(path, self._writable)

    def _must_be_ours(self, fd: int) -> os.stat_result:
        """Raises Refused for a file that commands may not change; what has no name belongs to who holds it."""
        status = os.fstat(fd)
        where = os.readlink(f"/proc/self/fd/{fd}")
        if where.startswith("/") and status.st_nlink and not self._below(where):
            raise Refused(errno.EPERM)
        return status

    # Modes, owners and times

    def _mode(self, fd: int, mode: int) -> None:
        try:
            status = self._must_be_ours(fd)
            if mode & (stat.S_ISUID | stat.S_ISGID) and not stat.S_ISDIR(status.st_mode):
                raise Refused(errno.EPERM)
            os.chmod(f"/proc/self/fd/{fd}", mode & 0o7777)
        finally:
            os.close(fd)

    def _owner(self, fd: int, user: int, group: int) -> None:
        try:
            self._must_be_ours(fd)
            user, group = user & _UNCHANGED, group & _UNCHANGED
            if user not in (_UNCHANGED, os.geteuid()) or group not in {_UNCHANGED, os.getegid(), *os.getgroups()}:
                raise Refused(errno.EPERM)
            kernel.change_owner(fd, signed(user), signed(group))
        finally:
            os.close(fd)

    def _times(self, who: Caller, words: Sequence[int]) -> None:
        times = who.memory(words[2], 32) if words[2] else b""
        fd = who.file(words[0], words[1], words[3])
        try:
            self._must_be_ours(fd)
            kernel.change_times(fd, times)
        finally:
            os.close(fd)

    # What goes on in folders, and how much others may compute

    def _watch(self, who: Caller, words: Sequence[int]) -> int:
        """Landlock lets anybody watch any folder, and so learn the names of files in it."""
        flags = NO_FOLLOW if words[2] & _DONT_FOLLOW else 0
        fd = who.file(CWD, words[1], flags)
        try:
            if not _is_below(os.readlink(f"/proc/self/fd/{fd}"), self._readable):
                raise Refused(errno.EACCES)
            watcher = who.copy(words[0])
            try:
                return kernel.watch(watcher, f"/proc/self/fd/{fd}", words[2] & ~_DONT_FOLLOW & 0xFFFFFFFF)
            finally:
                os.close(watcher)
        finally:
            os.close(fd)

    @staticmethod
    def _schedule(number: int, *, alone: bool = True) -> None:
        """Of this session only, and one by one. What is judged stands in registers: nobody changes it meanwhile."""
        if not alone or not _is_of_session(signed(number)):
            raise Refused(errno.EPERM)
        raise _GoOn

    # Sockets

    def _bind(self, who: Caller, words: Sequence[int]) -> None:
        raw = who.address(words[1], words[2])
        with who.socket(words[0]) as ours:
            if ours.family in _INET and _family(raw) == ours.family:
                ours.bind(_on_loopback(ours, raw))
            elif ours.family == socket.AF_UNIX and raw[2:3] == b"\0":
                ours.bind(raw[2:])
                self._abstract[raw[2:]] = os.fstat(ours.fileno()).st_ino
            elif ours.family in _INET:
                raise Refused(errno.EAFNOSUPPORT)
            else:
                # Landlock judges where a socket of Unix is made; another socket put in its place cannot listen.
                raise _GoOn

    def _listen(self, who: Caller, words: Sequence[int]) -> None:
        with who.socket(words[0]) as ours:
            if ours.family in _INET:
                host, port = ours.getsockname()[:2]
                if not port:
                    ours.bind(("127.0.0.1" if ours.family == socket.AF_INET else "::1", 0))
                elif not _is_loopback(host):
                    raise Refused(errno.EACCES)
                self._listening.add(os.fstat(ours.fileno()).st_ino)
            ours.listen(signed(words[1]))

    def _connect(self, who: Caller, words: Sequence[int]) -> None:
        raw = who.address(words[1], words[2])
        with who.socket(words[0]) as ours:
            if ours.family == socket.AF_UNIX and _family(raw) == ours.family:
                self._connect_unix(who, ours, raw[2:])
            elif ours.family in _INET and _family(raw) == ours.family:
                self._connect_tcp(ours, *_host_and_port(raw))
            else:
                raise Refused(errno.EAFNOSUPPORT)

    def _connect_unix(self, who: Caller, ours: socket.socket, name: bytes) -> None:
        if name[:1] in (b"", b"\0"):
            if name not in self._abstract or not _is_named(self._abstract[name]):
                raise Refused(errno.ECONNREFUSED)
            ours.connect(name)
            return
        fd = who.reach(os.fsdecode(name.partition(b"\0")[0]))
        try:
            where = os.readlink(f"/proc/self/fd/{fd}")
            if not stat.S_ISSOCK(os.fstat(fd).st_mode) or not self._below(where):
                raise Refused(errno.EACCES)
            ours.connect(f"/proc/self/fd/{fd}")
        finally:
            os.close(fd)

    def _connect_tcp(self, ours: socket.socket, host: str, port: int) -> None:
        if not _is_loopback(host):
            raise Refused(errno.ECONNREFUSED)
        if self._door and port == self._door.port:
            self._door.connect(ours, host)
        elif self._is_ours(port):
            ours.connect((host, port))
        else:
            raise Refused(errno.ECONNREFUSED)

    def _is_ours(self, port: int) -> bool:
        """Whether all that listens on a port of this machine was put there by this session."""
        found: set[int] = set()
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            with contextlib.suppress(OSError):
                for line in Path(table).read_text().splitlines()[1:]:
                    columns = line.split()
                    if columns[3] == "0A" and int(columns[1].rpartition(":")[2], 16) == port:
                        found.add(int(columns[9]))
        return bool(found) and found <= self._listening


def _is_below(path: str, roots: Sequence[str]) -> bool:
    return any(path == root or path.startswith(f"{root}/") for root in roots)


def _is_of_session(number: int) -> bool:
    """Whether a process or thread descends from this process."""
    me = os.getpid()
    for _ in range(1000):
        if number in (0, 1, me):
            return False
        words = dict(line.partition(":")[::2] for line in Path(f"/proc/{number}/status").read_text().splitlines())
        if int(words["Tgid"]) == number and int(words["PPid"]) == me:
            return True
        number = int(words["Tgid"]) if int(words["Tgid"]) != number else int(words["PPid"])
    return False


def _is_named(inode: int) -> bool:
    """Whether a socket still has an abstract name."""
    rows = (line.split() for line in Path("/proc/net/unix").read_text(errors="replace").splitlines()[1:])
    return any(len(row) > 7 and row[6] == str(inode) and row[7].startswith("@") for row in rows)


def _family(raw: bytes) -> int:
    return int.from_bytes(raw[:2], sys.byteorder)


def _host_and_port(raw: bytes) -> tuple[str, int]:
    """The address of a ``sockaddr_in`` or ``sockaddr_in6``. Raises Refused for a shorter one."""
    start, end = (4, 8) if _family(raw) == socket.AF_INET else (8, 24)
    if len(raw) < end:
        raise Refused(errno.EINVAL)
    return socket.inet_ntop(_family(raw), raw[start:end]), int.from_bytes(raw[2:4], "big")


def _is_loopback(host: str) -> bool:
    return host.startswith(("127.", "::ffff:127.")) or host == "::1"


def _on_loopback(ours: socket.socket, raw: bytes) -> tuple[str, int]:
    """Where a socket is bound instead of everywhere. Raises Refused for an address that is not loopback's."""
    host, port = _host_and_port(raw)
    if _is_loopback(host):
        return host, port
    if host == "0.0.0.0":  # noqa: S104 - what is replaced
        return "127.0.0.1", port
    if host == "::":
        both = not ours.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY)
        return ("::ffff:127.0.0.1" if both else "::1"), port
    raise Refused(errno.EADDRNOTAVAIL)
