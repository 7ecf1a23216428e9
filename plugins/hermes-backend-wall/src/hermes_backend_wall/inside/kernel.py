"""Calls of the Linux kernel that Python has no names for: prctl, capabilities, Landlock, seccomp.

Numbers and layouts are those of ``linux/prctl.h``, ``linux/landlock.h``, ``linux/seccomp.h`` and
``linux/capability.h``; the system calls named here have one number on all machines, or are in ``_SECCOMP``.
"""

from __future__ import annotations

import ctypes
import os
import platform
import stat
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

__all__ = [
    "abi",
    "die_with_parent",
    "drop_rights",
    "filter_calls",
    "get_descriptor",
    "hide_memory",
    "keep_orphans",
    "landlock",
    "restrict",
    "scope",
    "watch",
]

_PDEATHSIG, _DUMPABLE, _DROP, _NO_NEW_PRIVS, _SUBREAPER, _AMBIENT, _CLEAR_ALL = 1, 4, 24, 38, 36, 47, 4
_CREATE, _ADD, _RESTRICT, _GETFD = 444, 445, 446, 438
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_CAPSET = {"x86_64": 126, "aarch64": 91}

# Rights of Landlock, by the version of its interface that brought them.
_FILE = 0b111  # execute, write, read a file
_READ_FOLDER = 1 << 3
_REMOVE, _MAKE_DEVICE = 0b11 << 4, 1 << 6 | 1 << 11
_MAKE = 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 12  # folder, file, socket, FIFO, link
_REFER, _TRUNCATE, _IOCTL = 1 << 13, 1 << 14, 1 << 15
_SINCE = ((1, (1 << 13) - 1), (2, _REFER), (3, _TRUNCATE), (5, _IOCTL))
_NETWORK = 0b11  # bind and connect of TCP
_SCOPES = 0b11  # abstract Unix sockets and signals
_READ = 0b101 | _READ_FOLDER
_ALL = _FILE | _READ_FOLDER | _REMOVE | _MAKE | _REFER | _TRUNCATE
# What each list of paths gives.
GRANTS = {"read": _READ, "write": _ALL, "device": 0b110 | _IOCTL}
_OF_FILES = _FILE | _TRUNCATE | _IOCTL

_LISTENER, _WAIT_KILLABLE = 1 << 3, 1 << 5

_libc = ctypes.CDLL(None, use_errno=True)


def _must(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _prctl(*words: int) -> int:
    return int(_libc.prctl(*(ctypes.c_ulong(word) for word in (*words, 0, 0, 0, 0)[:5])))


def hide_memory() -> bool:
    """Close this process's memory and environment to others of its user; whether that was done."""
    return _prctl(_DUMPABLE, 0) == 0


def keep_orphans() -> None:
    """Become the parent of what loses its parent below this process. Raises OSError."""
    _must(_prctl(_SUBREAPER, 1), "child subreaper")


def die_with_parent(number: int) -> None:
    """Be sent a signal when the parent ends. Raises OSError."""
    _must(_prctl(_PDEATHSIG, number), "parent death signal")


def drop_rights() -> None:
    """Give up every capability for good, also of root, and gain none by what is started. Raises OSError."""
    _must(_prctl(_NO_NEW_PRIVS, 1), "no new privileges")
    _prctl(_AMBIENT, _CLEAR_ALL)
    for number in range(64):
        if _prctl(_DROP, number) < 0:  # the last one, or we hold none to give up
            break
    call = _CAPSET.get(platform.machine())
    if call:
        header = ctypes.create_string_buffer(struct.pack("=II", 0x20080522, 0))
        _must(_libc.syscall(call, header, ctypes.create_string_buffer(bytes(24))), "capset")


def abi() -> int:
    """The version of Landlock's interface; 0 where there is none."""
    return max(0, int(_libc.syscall(_CREATE, None, ctypes.c_size_t(0), 1)))


def _ruleset(files: int, network: int, scopes: int, version: int) -> int:
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    attributes = (ctypes.c_uint64 * 3)(files, network, scopes)
    return _must(_libc.syscall(_CREATE, ctypes.byref(attributes), ctypes.c_size_t(size), 0), "landlock")


def _allow(ruleset: int, fd: int, rights: int) -> None:
    rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, fd))
    _must(_libc.syscall(_ADD, ruleset, 1, rule, 0), "landlock")


def restrict(ruleset: int) -> None:
    """Keep to a ruleset from now on, with all that is started, and close it. Raises OSError."""
    try:
        _must(_libc.syscall(_RESTRICT, ruleset, 0), "landlock")
    finally:
        os.close(ruleset)


def scope() -> bool:
    """Keep to the abstract sockets and the processes of this process and its children; whether that was done."""
    version = abi()
    if version < 6:
        return False
    try:
        _must(_prctl(_NO_NEW_PRIVS, 1), "no new privileges")
        # Every ruleset denies that a file comes into another folder, also one that handles nothing else of files.
        ruleset = _ruleset(_REFER, 0, _SCOPES, version)
        root = os.open("/", os.O_PATH | os.O_CLOEXEC)
        _allow(ruleset, root, _REFER)
        os.close(root)
        restrict(ruleset)
    except OSError:
        return False
    return True


def landlock(paths: Mapping[str, Iterable[str]], exact: Container[str] = ()) -> int:
    """A ruleset that allows what ``GRANTS`` gives to lists of paths, and no TCP; those that are missing are left out.

    What is ``exact`` is left out, too, where a link leads elsewhere by now.
    Raises OSError where there is no Landlock.
    """
    version = abi()
    handled = sum(rights for since, rights in _SINCE if version >= since)
    ruleset = _ruleset(handled, _NETWORK if version >= 4 else 0, _SCOPES if version >= 6 else 0, version)
    for kind, names in paths.items():
        for name in names:
            try:
                fd = os.open(name, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue
            if name in exact and os.readlink(f"/proc/self/fd/{fd}") != name:  # noqa: PTH115
                os.close(fd)
                continue
            rights = GRANTS[kind] & handled
            if not stat.S_ISDIR(os.fstat(fd).st_mode):
                rights &= _OF_FILES
            _allow(ruleset, fd, rights)
            os.close(fd)
    return ruleset


def filter_calls(program: bytes, *, listen: bool) -> int:
    """Filter this process's system calls and those of all it starts; with ``listen`` the descriptor of a supervisor.

    Raises OSError, also where the number of ``seccomp`` is not known.
    """
    call = _SECCOMP.get(platform.machine())
    if call is None:
        raise OSError(38, "seccomp: its number is not known on this machine")
    code = ctypes.create_string_buffer(program, len(program))
    fprog = ctypes.create_string_buffer(struct.pack("@HP", len(program) // 8, ctypes.addressof(code)))
    # Without the second flag, a call that a signal interrupts would be made twice (Go sends itself many).
    for flags in (_LISTENER | _WAIT_KILLABLE, _LISTENER) if listen else (0,):
        result = int(_libc.syscall(call, 1, flags, fprog))
        if result >= 0:
            return result
    return _must(-1, "seccomp")


def get_descriptor(pid: int, number: int) -> int:
    """A copy of another process's descriptor. Raises OSError."""
    handle = os.pidfd_open(pid)
    try:
        return _must(_libc.syscall(_GETFD, handle, number, 0), "pidfd_getfd")
    finally:
        os.close(handle)


def change_owner(fd: int, user: int, group: int) -> None:
    """Change the owner of what an ``O_PATH`` descriptor leads to. Raises OSError."""
    _must(_libc.fchownat(fd, b"", user, group, 0x1000), "chown")


def change_times(fd: int, times: bytes) -> None:
    """Change the times of what an ``O_PATH`` descriptor leads to: two ``timespec``, or none for now. Raises OSError."""
    _must(_libc.utimensat(fd, b"", times or None, 0x1000), "utimensat")


def watch(fd: int, path: str, mask: int) -> int:
    """Add a watch to an inotify descriptor; its number. Raises OSError."""
    return _must(_libc.inotify_add_watch(fd, os.fsencode(path), ctypes.c_uint32(mask)), "inotify")
