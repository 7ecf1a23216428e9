"""The filter of system calls, as the kernel takes it: what no ordinary program needs and what sandboxes broke at.

It is assembled here because it is short and because a filter that depends on an optional library is one that is
missing where nobody looks. Calls that are refused say EPERM, so programs go on without them.
"""

import platform
import struct
from collections.abc import Iterable, Sequence

from hermes_core.values import frozen

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # opcodes of classic BPF
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24  # offsets in struct seccomp_data; low halves of arguments

_NEW_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_TYPING = (0x5412, 0x541C)  # TIOCSTI and TIOCLINUX put words into a terminal
_TAKING_OVER = (16, 0x4206)  # PTRACE_ATTACH and SEIZE; a debugger may start programs, not take over running ones
_FAMILIES = (1, 2, 10, 16)  # unix, inet, inet6, netlink; vsock and others know no network namespace


@frozen
class _Machine:
    """The numbers of system calls, in one order: first those that are refused whatever their arguments."""

    audit: int
    clone: int
    ioctl: int
    ptrace: int
    sockets: Sequence[int]
    refused: Sequence[int]
    has_x32: bool = False


# One number on all machines: io_uring (it goes around filters), the mount calls of 2019 and later, pidfd_getfd.
_COMMON = (425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442, 443, 467)
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
    ),
}


def program(machine: str = "") -> bytes:
    """The filter for a machine, by default this one; empty where the numbers of its system calls are not known."""
    known = _MACHINES.get(machine or platform.machine())
    if known is None:
        return b""
    # A program of another architecture on the same machine has other numbers: it would pass unseen.
    lines = [_load(_ARCHITECTURE), *_unless_any([known.audit], _KILL), _load(_NUMBER)]
    if known.has_x32:
        lines += [_line(_AT_LEAST, 0x40000000, 0, 1), _answer(_ERRNO | _ENOSYS)]
    for number in (*known.refused, *_COMMON):
        lines += _when(number, [_answer(_ERRNO | _EPERM)])
    lines += _when(_CLONE3, [_answer(_ERRNO | _ENOSYS)])
    namespaces = [_load(_FIRST), _line(_ANY_BIT, _NEW_NAMESPACES, 0, 1), _answer(_ERRNO | _EPERM), _answer(_ALLOW)]
    lines += _when(known.clone, namespaces)
    lines += _when(known.ioctl, [_load(_SECOND), *_if_any(_TYPING, _ERRNO | _EPERM), _answer(_ALLOW)])
    lines += _when(known.ptrace, [_load(_FIRST), *_if_any(_TAKING_OVER, _ERRNO | _EPERM), _answer(_ALLOW)])
    for number in known.sockets:
        lines += _when(number, [_load(_FIRST), *_if_any(_FAMILIES, _ALLOW), _answer(_ERRNO | _EAFNOSUPPORT)])
    return b"".join((*lines, _answer(_ALLOW)))


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
