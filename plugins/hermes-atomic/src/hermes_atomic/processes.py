"""Whether another process of this machine still runs."""

import os
from functools import cache
from pathlib import Path

__all__ = ["is_running", "place"]


def is_running(pid: int) -> bool:
    """Tell whether a process is there and not only waiting to be buried (a zombie, as in containers without init)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it belongs to somebody else
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - pathlib costs more than the question
            return file.read().rpartition(b")")[2].split()[0] != b"Z"
    except (OSError, IndexError):
        return True  # no /proc here


@cache
def place() -> str:
    """Say where process ids mean the same: one boot of this machine, and in it this process table (a container's)."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115 - this link leads to no path
    except OSError:
        return os.uname().nodename
