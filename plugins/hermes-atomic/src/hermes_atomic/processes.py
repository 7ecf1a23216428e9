"""Whether another process of this machine still runs."""

import os

__all__ = ["is_running"]


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
