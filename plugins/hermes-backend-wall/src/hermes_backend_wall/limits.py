"""Bounds on what a sandbox may use: control groups where this machine lets us have one, process limits everywhere."""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from hermes_core.environment import LOCKS
from hermes_core.values import frozen

__all__ = ["Groups", "Limits", "needs_watching", "process_limits"]

ROOT = Path("/sys/fs/cgroup")
FEWEST_FILES = 256  # a shell that leaves its state behind uses descriptor 100
_PREFIX = "hermes-sandbox-"


@frozen(kw_only=True)
class Limits:
    """What commands may use; 0: no limit. ``memory_mb`` of all with control groups, else of one process; ``file_mb``
    of the largest file; ``open_files`` of one process.
    """

    memory_mb: int = 0
    processes: int = 0
    file_mb: int = 0
    open_files: int = 0


def process_limits(limits: Limits, *, weighed: bool = False) -> dict[str, int]:
    """Limits for each process inside, by their names in Python's ``resource``; ``weighed``: a group bounds memory."""
    wanted = {
        # Data, not address space: programs that reserve far more than they use (Node, Go, Java) go on working. But
        # what AddressSanitizer reserves counts, so a group that bounds what is used is enough.
        "RLIMIT_DATA": 0 if weighed else limits.memory_mb << 20,
        "RLIMIT_FSIZE": limits.file_mb << 20,
        "RLIMIT_NOFILE": limits.open_files and max(limits.open_files, FEWEST_FILES),
        # Since Linux 5.14 this counts the processes of the sandbox's own user namespace, not all of the user's.
        "RLIMIT_NPROC": limits.processes if _kernel() >= (5, 14) else 0,
    }
    marked = {"RLIMIT_LOCKS": LOCKS} if sys.platform == "linux" else {}
    return {name: value for name, value in wanted.items() if value} | {"RLIMIT_CORE": 0} | marked


def needs_watching(limits: Limits, groups: "Groups") -> bool:
    """Whether nothing but counting bounds the number of processes: the kernel lets root have any number."""
    return bool(limits.processes) and not groups.counts and (os.getuid() == 0 or _kernel() < (5, 14))


class Groups:
    """Control groups of one sandbox, made before it starts. ``procs`` are the files to enter them by."""

    def __init__(self, limits: Limits) -> None:
        self._made: list[Path] = []
        self.counts = self.weighs = False
        name = f"{_PREFIX}{os.getpid()}-{uuid4().hex[:8]}"
        wanted = {
            "pids": {"pids.max": limits.processes},
            "memory": {"memory.max": limits.memory_mb << 20, "memory.limit_in_bytes": limits.memory_mb << 20},
        }
        for controller, values in wanted.items():
            if any(values.values()) and self._make(controller, name, values):
                self.counts |= controller == "pids"
                self.weighs |= controller == "memory"

    @property
    def procs(self) -> list[str]:
        """Where a process writes its number to be in them."""
        return [str(path / "cgroup.procs") for path in self._made]

    def _make(self, controller: str, name: str, values: dict[str, int]) -> bool:
        for parent in _parents(controller):
            _sweep(parent)
            group = parent / name
            if self._set(group, values):
                return True
        return False

    def _set(self, group: Path, values: dict[str, int]) -> bool:
        try:
            group.mkdir(exist_ok=True)
        except OSError:
            return False
        done = False
        with suppress(OSError):
            for file, value in values.items():
                if (group / file).exists():
                    (group / file).write_text(str(value))
                    done = os.access(group / "cgroup.procs", os.W_OK)
            with suppress(OSError):
                (group / "memory.oom.group").write_text("0")  # one command dies, not all
        if done and group not in self._made:
            self._made.append(group)
        elif not done and group not in self._made:
            with suppress(OSError):
                group.rmdir()
        return done

    def remove(self) -> None:
        """Take them away; what still runs in them keeps them."""
        self._made = [group for group in self._made if not _removed(group)]


def _removed(group: Path) -> bool:
    try:
        group.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _parents(controller: str) -> Iterator[Path]:
    """Folders in which a group with this controller might be made, the nearest first."""
    lines = []
    with suppress(OSError):
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    for line in lines:
        number, names, path = line.split(":", 2)
        if controller in names.split(","):  # version 1 has a tree for each controller
            own = ROOT / controller / path.lstrip("/")
            yield own if own.is_dir() else ROOT / controller
        elif number == "0" and not names and (ROOT / "cgroup.controllers").exists():
            own = ROOT / path.lstrip("/")
            # A group with processes of its own hands no controller down, so it is made beside ours, not in it.
            for parent in own.parents:
                if parent == ROOT.parent:
                    break
                if os.access(parent, os.W_OK):
                    yield parent


def _sweep(parent: Path) -> None:
    """Remove empty groups of a Hermes that was killed."""
    with suppress(OSError):
        for group in parent.glob(f"{_PREFIX}*"):
            pid = group.name.removeprefix(_PREFIX).partition("-")[0]
            if pid.isdigit() and not Path("/proc", pid).exists():
                _removed(group)


def _kernel() -> tuple[int, int]:
    major, minor = os.uname().release.split(".")[:2]
    return int(major), int("".join(c for c in minor if c.isdigit()) or 0)
