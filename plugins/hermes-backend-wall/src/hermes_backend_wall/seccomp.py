"""The filter of system calls, as the kernel takes it: what no ordinary program needs and what sandboxes broke at.

Where the wall is Landlock, the filter also closes what Landlock does not know (owners, modes, times and attributes of
files, limits of other processes, datagrams) and hands some calls to the supervisor: see ``inside.supervisor``.

It is assembled here because it is short and because a filter that depends on an optional library is one that is
missing where nobody looks. Calls that are refused say EPERM, so programs go on without them.
"""

import platform
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence

from hermes_core.values import frozen

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06  # opcodes of classic BPF
_ALLOW, _KILL, _ERRNO, _NOTIFY = 0x7FFF0000, 0x80000000, 0x00050000, 0x7FC00000
_EPERM, _EACCES, _ENOSYS, _EPROTONOSUPPORT, _ENOTSUP, _EAFNOSUPPORT = 1, 13, 38, 93, 95, 97
# Offsets in struct seccomp_data; low halves of arguments.
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND, _THIRD, _FOURTH = 0, 4, 16, 24, 32, 40

_THREAD = 0x10000  # CLONE_THREAD
_NEW_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_TYPING = (0x5412, 0x541C)  # TIOCSTI and TIOCLINUX put words into a terminal
_TAKING_OVER = (16, 0x4206)  # PTRACE_ATTACH and SEIZE; a debugger may start programs, not take over running ones
_FAMILIES = (1, 2, 10, 16)  # unix, inet, inet6, netlink; vsock and others know no network namespace
_FLAGGING = (0x40086602, 0x401C5820)  # FS_IOC_SETFLAGS and FSSETXATTR change files that may only be read
_STREAM, _SEQPACKET, _TCP = 1, 5, 6
_FAST_OPEN = 0x20000000  # MSG_FASTOPEN connects by sending


@frozen
class _Machine:
    """The numbers of system calls, in one order: first those that are refused whatever their arguments."""

    audit: int
    clone: int
    ioctl: int
    ptrace: int
    sockets: Sequence[int]
    refused: Sequence[int]
    supervised: Mapping[str, int]
    scheduling: Mapping[str, int]  # supervised too, where they name another process
    attributes: Sequence[int]  # of files: setting and removing them
    truncate: int
    prlimit: int
    sends: Sequence[tuple[int, int]]  # calls that take flags of messages, with where these stand
    starts: Sequence[int]  # running a program, and the old ways to make a process
    has_x32: bool = False


# One number on all machines: io_uring (it goes around filters), the mount calls of 2019 and later, pidfd_getfd.
_COMMON = (425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442, 443, 467)
_ATTRIBUTES = (463, 466, 469)  # setxattrat, removexattrat, file_setattr
_CLONE3 = 435  # hides its flags in memory; with ENOSYS the C library takes clone

# keys: add_key request_key keyctl; mounts: mount umount2 pivot_root open_by_handle_at; namespaces: unshare setns;
# kernel: init_module finit_module delete_module kexec_load kexec_file_load bpf perf_event_open userfaultfd syslog
# reboot swapon swapoff acct quotactl lookup_dcookie fanotify_init vhangup; clocks: settimeofday clock_settime
# clock_adjtime; others' memory: process_vm_readv process_vm_writev kcmp; x86 also: modify_ldt iopl ioperm
_MACHINES = {
    "x86_64": _Machine(
        audit=0xC000003E,
        clone=56,
        ioctl=16,
        ptrace=101,
        sockets=(41, 53),
        refused=(
            *(248, 249, 250, 165, 166, 155, 304, 272, 308, 175, 313, 176, 246, 320, 321, 298, 323, 103, 169, 167, 168),
            *(163, 179, 212, 300, 153, 164, 227, 305, 310, 311, 312, 154, 172, 173),
        ),
        supervised={
            "connect": 42,
            "bind": 49,
            "listen": 50,
            "chmod": 90,
            "fchmod": 91,
            "fchmodat": 268,
            "chown": 92,
            "fchown": 93,
            "lchown": 94,
            "fchownat": 260,
            "utimensat": 280,
            "fchmodat2": 452,
            "inotify_add_watch": 254,
        },
        scheduling={
            "setpriority": 141,
            "sched_setparam": 142,
            "sched_setscheduler": 144,
            "sched_setaffinity": 203,
            "ioprio_set": 251,
            "sched_setattr": 314,
        },
        attributes=(188, 189, 190, 197, 198, 199, 132, 235, 261),  # and utime, utimes, futimesat
        truncate=76,
        prlimit=302,
        sends=((44, _FOURTH), (46, _THIRD), (307, _FOURTH)),
        starts=(59, 322, 57, 58),
        has_x32=True,
    ),
    "aarch64": _Machine(
        audit=0xC00000B7,
        clone=220,
        ioctl=29,
        ptrace=117,
        sockets=(198, 199),
        refused=(
            *(217, 218, 219, 40, 39, 41, 265, 97, 268, 105, 273, 106, 104, 294, 280, 241, 282, 116, 142, 224, 225),
            *(89, 60, 18, 262, 58, 170, 112, 266, 270, 271, 272),
        ),
        supervised={
            "connect": 203,
            "bind": 200,
            "listen": 201,
            "fchmod": 52,
            "fchmodat": 53,
            "fchown": 55,
            "fchownat": 54,
            "utimensat": 88,
            "fchmodat2": 452,
            "inotify_add_watch": 27,
        },
        scheduling={
            "setpriority": 140,
            "sched_setparam": 118,
            "sched_setscheduler": 119,
            "sched_setaffinity": 122,
            "ioprio_set": 30,
            "sched_setattr": 274,
        },
        attributes=(5, 6, 7, 14, 15, 16),
        truncate=45,
        prlimit=261,
        sends=((206, _FOURTH), (211, _THIRD), (269, _FOURTH)),
        starts=(221, 281),
    ),
}


def supervised(machine: str = "") -> Mapping[int, str]:
    """The calls that the supervisor answers, by their numbers on a machine; none where they are not known."""
    known = _MACHINES.get(machine or platform.machine())
    return {number: name for name, number in (*known.supervised.items(), *known.scheduling.items())} if known else {}


def program(machine: str = "", *, landlock: int = 0) -> bytes:
    """The filter for a machine, by default this one; empty where the numbers of its system calls are not known.

    ``landlock`` is the version of Landlock's interface where that is the wall, and closes what it leaves open.
    """
    known = _MACHINES.get(machine or platform.machine())
    if known is None:
        return b""
    lines = _begun(known)
    for number in (*known.refused, *_COMMON):
        lines += _when(number, [_answer(_ERRNO | _EPERM)])
    lines += _when(_CLONE3, [_answer(_ERRNO | _ENOSYS)])
    namespaces = [_load(_FIRST), _line(_ANY_BIT, _NEW_NAMESPACES, 0, 1), _answer(_ERRNO | _EPERM), _answer(_ALLOW)]
    lines += _when(known.clone, namespaces)
    requests = (*_TYPING, *(_FLAGGING if landlock else ()))
    lines += _when(known.ioctl, [_load(_SECOND), *_if_any(requests, _ERRNO | _EPERM), _answer(_ALLOW)])
    lines += _when(known.ptrace, [_load(_FIRST), *_if_any(_TAKING_OVER, _ERRNO | _EPERM), _answer(_ALLOW)])
    sockets = _streams_only() if landlock else [*_if_any(_FAMILIES, _ALLOW), _answer(_ERRNO | _EAFNOSUPPORT)]
    for number in known.sockets:
        lines += _when(number, [_load(_FIRST), *sockets])
    lines += _beside_landlock(known, landlock) if landlock else _no_foreign_rights(known)
    return b"".join((*lines, _answer(_ALLOW)))


def sealed(machine: str = "", *, network: bool) -> bytes:
    """A filter that a process takes upon itself: no program, no process besides its threads, no socket but ``network``.

    For a machine, by default this one; empty where the numbers of its system calls are not known.
    """
    known = _MACHINES.get(machine or platform.machine())
    if known is None:
        return b""
    lines = _begun(known)
    for number in (*known.starts, *_COMMON, *(() if network else known.sockets)):
        lines += _when(number, [_answer(_ERRNO | _EPERM)])
    lines += _when(_CLONE3, [_answer(_ERRNO | _ENOSYS)])
    threads = [_load(_FIRST), _line(_ANY_BIT, _THREAD, 0, 1), _answer(_ALLOW), _answer(_ERRNO | _EPERM)]
    lines += _when(known.clone, threads)
    return b"".join((*lines, _answer(_ALLOW)))


def offline(machine: str = "") -> bytes:
    """A filter that a process takes upon itself and all that it starts: no socket but those of Unix.

    For a machine, by default this one; empty where the numbers of its system calls are not known.
    """
    known = _MACHINES.get(machine or platform.machine())
    if known is None:
        return b""
    lines = _begun(known)
    for number in known.sockets:
        lines += _when(number, [_load(_FIRST), *_if_any((1,), _ALLOW), _answer(_ERRNO | _EACCES)])
    for number in (425, 426, 427):  # io_uring goes around filters
        lines += _when(number, [_answer(_ERRNO | _EPERM)])
    return b"".join((*lines, _answer(_ALLOW)))


def _begun(known: _Machine) -> list[bytes]:
    """Have the number of the call at hand; a program of another architecture, which has other numbers, is ended."""
    lines = [_load(_ARCHITECTURE), *_unless_any([known.audit], _KILL), _load(_NUMBER)]
    if known.has_x32:
        lines += [_line(_AT_LEAST, 0x40000000, 0, 1), _answer(_ERRNO | _ENOSYS)]
    return lines


def _no_foreign_rights(known: _Machine) -> Iterator[bytes]:
    """No file whose starter gets its owner's rights."""
    for name, place in (("chmod", _SECOND), ("fchmod", _SECOND), ("fchmodat", _THIRD), ("fchmodat2", _THIRD)):
        if name in known.supervised:
            refuse = [_load(place), _line(_ANY_BIT, 0o4000, 0, 1), _answer(_ERRNO | _EPERM), _answer(_ALLOW)]
            yield from _when(known.supervised[name], refuse)


def _beside_landlock(known: _Machine, version: int) -> Iterator[bytes]:
    for number in (*known.attributes, *_ATTRIBUTES):
        yield from _when(number, [_answer(_ERRNO | _ENOTSUP)])
    if version < 3:
        yield from _when(known.truncate, [_answer(_ERRNO | _EPERM)])
    yield from _when(known.prlimit, [_load(_FIRST), *_if_any([0], _ALLOW), _answer(_ERRNO | _EPERM)])
    for number, place in known.sends:
        refuse = [_load(place), _line(_ANY_BIT, _FAST_OPEN, 0, 1), _answer(_ERRNO | _ENOTSUP), _answer(_ALLOW)]
        yield from _when(number, refuse)
    for number in known.supervised.values():
        yield from _when(number, [_answer(_NOTIFY)])
    for name, number in known.scheduling.items():
        # Who means itself says 0; these two first say what kind of thing they name.
        kind = {"setpriority": 0, "ioprio_set": 1}.get(name)
        first = [] if kind is None else [_load(_FIRST), *_unless_any([kind], _NOTIFY)]
        itself = [_load(_FIRST if kind is None else _SECOND), *_if_any([0], _ALLOW)]
        yield from _when(number, [*first, *itself, _answer(_NOTIFY)])


def _streams_only() -> list[bytes]:
    """TCP, streams of Unix, and netlink's table of interfaces: what sends a datagram names no one to a supervisor."""
    kind = [_load(_SECOND), _line(_AND, 0xF)]
    of_unix = [*kind, *_if_any([_STREAM, _SEQPACKET], _ALLOW), _answer(_ERRNO | _EPROTONOSUPPORT)]
    no_tcp = _answer(_ERRNO | _EPROTONOSUPPORT)  # also of multipath TCP, which Go tries first
    of_inet = [*kind, *_unless_any([_STREAM], _ERRNO | _EACCES), _load(_THIRD), *_if_any([0, _TCP], _ALLOW), no_tcp]
    of_netlink = [_load(_THIRD), *_if_any([0], _ALLOW), _answer(_ERRNO | _EPROTONOSUPPORT)]
    lines = [*_when(1, of_unix), *_when(2, of_inet), *_when(10, of_inet), *_when(16, of_netlink)]
    return [*lines, _answer(_ERRNO | _EAFNOSUPPORT)]


def _line(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)


def _load(offset: int) -> bytes:
    return _line(_LOAD, offset)


def _answer(what: int) -> bytes:
    return _line(_RETURN, what)


def _when(number: int, block: Sequence[bytes]) -> list[bytes]:
    """The block for one system call; it must end in an answer."""
    return [_line(_EQUAL, number, 0, len(block)), *block]


def _if_any(values: Iterable[int], answer: int) -> list[bytes]:
    return [line for value in values for line in (_line(_EQUAL, value, 0, 1), _answer(answer))]


def _unless_any(values: Sequence[int], answer: int) -> list[bytes]:
    jumps = [_line(_EQUAL, value, len(values) - at, 0) for at, value in enumerate(values)]
    return [*jumps, _answer(answer)]
