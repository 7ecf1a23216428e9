"""Who made a call that waits for an answer, and what it names: memory, files and sockets, taken by value."""

# ruff: noqa: PTH123 - pathlib costs more than the rest

from __future__ import annotations

import errno
import fcntl
import os
import socket
import sys
from pathlib import Path

from hermes_backend_wall.inside import kernel

__all__ = ["CWD", "EMPTY_PATH", "NO_FOLLOW", "Caller", "Refused", "signed"]

CWD = -100  # AT_FDCWD
NO_FOLLOW, EMPTY_PATH = 0x100, 0x1000  # flags of calls that take a path
_VALID = 0x40082102  # SECCOMP_IOCTL_NOTIF_ID_VALID
_PAGE = 4096
_LONGEST_PATH, _LONGEST_ADDRESS = 4096, 128  # bytes


class Refused(Exception):
    """A call gets this error number."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Caller:
    """The thread ``pid``; ``ident`` names its call to the filter's descriptor ``fd``.

    Its number may be another's by the time it is looked up. So after each look it is asked whether the call still
    waits; as long as it does, the number is the caller's.
    """

    def __init__(self, fd: int, ident: int, pid: int) -> None:
        self._fd, self._ident, self._pid = fd, ident, pid

    def _must_wait(self) -> None:
        fcntl.ioctl(self._fd, _VALID, self._ident.to_bytes(8, sys.byteorder))

    def memory(self, at: int, size: int) -> bytes:
        """A copy of its memory, shorter where that ends. Raises OSError."""
        with open(f"/proc/{self._pid}/mem", "rb", 0) as memory:
            self._must_wait()
            return os.pread(memory.fileno(), size, at)

    def address(self, at: int, size: int) -> bytes:
        """A socket's address. Raises Refused and OSError."""
        size &= 0xFFFFFFFF
        if not 2 <= size <= _LONGEST_ADDRESS:
            raise Refused(errno.EINVAL)
        return self.memory(at, size)

    def text(self, at: int) -> str:
        """A path, read up to the end of its page at a time: the next one may not be there. Raises Refused."""
        found = b""
        while len(found) < _LONGEST_PATH:
            piece = self.memory(at + len(found), _PAGE - (at + len(found)) % _PAGE)
            found += piece
            if not piece or b"\0" in piece:
                return os.fsdecode(found.partition(b"\0")[0])
        raise Refused(errno.ENAMETOOLONG)

    def _place(self, number: int) -> str:
        return f"/proc/{self._pid}/cwd" if signed(number) == CWD else f"/proc/{self._pid}/fd/{signed(number)}"

    def opened(self, number: int) -> int:
        """What a descriptor of the caller leads to, as a path descriptor of ours. Raises OSError."""
        fd = os.open(self._place(number), os.O_PATH | os.O_CLOEXEC)
        self._must_wait()
        return fd

    def file(self, folder: int, at: int, flags: int) -> int:
        """What a path from a folder leads to, as a path descriptor. Raises Refused and OSError."""
        path = self.text(at) if at else ""
        if path:
            return self.reach(path, folder, flags)
        if at and not flags & EMPTY_PATH:
            raise Refused(errno.ENOENT)
        return self.opened(folder)

    def reach(self, path: str, folder: int = CWD, flags: int = 0) -> int:
        """What a path leads to that was read already. Raises OSError."""
        how = os.O_PATH | os.O_CLOEXEC | (os.O_NOFOLLOW if flags & NO_FOLLOW else 0)
        if path.startswith("/proc/self/"):  # of the caller, not of us
            path = f"/proc/{self._pid}/{path[11:]}"
        if path.startswith("/"):
            fd = os.open(path, how)
            self._must_wait()
            return fd
        base = self.opened(folder)
        try:
            return os.open(path, how, dir_fd=base)
        finally:
            os.close(base)

    def copy(self, number: int) -> int:
        """A copy of a descriptor of the caller. Raises Refused and OSError."""
        ours = kernel.get_descriptor(self._process(), signed(number))
        try:
            self._must_wait()
        except OSError:
            os.close(ours)
            raise
        return ours

    def socket(self, number: int) -> socket.socket:
        """A copy of a socket of the caller. Raises Refused and OSError."""
        return socket.socket(fileno=self.copy(number))

    def _process(self) -> int:
        for line in Path(f"/proc/{self._pid}/status").read_text().splitlines():
            if line.startswith("Tgid:"):
                return int(line.split()[1])
        raise Refused(errno.ESRCH)


def signed(word: int) -> int:
    """A register's lower half as the number that a call means by it."""
    return (word & 0xFFFFFFFF) - (1 << 32 if word & 0x80000000 else 0)
