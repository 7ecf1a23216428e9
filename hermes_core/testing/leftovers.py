"""What a piece of work left behind in this process: tasks, threads, sockets, child processes."""

import asyncio
import os
import stat
import threading
from contextlib import suppress
from pathlib import Path

from hermes_core.values import frozen

__all__ = ["Traces"]

OF_THE_LOOP = ("asyncio_", "ThreadPoolExec", "AnyIO worker thread")
PATIENCE = 2.0  # seconds that what was ended has to go away


@frozen
class Traces:
    """What runs and is open now."""

    tasks: frozenset["asyncio.Task[object]"]
    threads: frozenset[threading.Thread]
    sockets: frozenset[tuple[int, int]]
    children: frozenset[int]

    @classmethod
    def now(cls) -> "Traces":
        """Look. Threads of the event loop's own pools do not count; they end with the loop."""
        threads = frozenset(t for t in threading.enumerate() if not t.name.startswith(OF_THE_LOOP))
        return cls(frozenset(asyncio.all_tasks()), threads, _sockets(), _children())

    async def left(self, *, patience: float | None = None) -> list[str]:
        """What has come since, once it had a moment to go away; one sentence each."""
        loop = asyncio.get_running_loop()
        end = loop.time() + (PATIENCE if patience is None else patience)
        # There is no event to wait for: a killed child is reaped, a socket closed, in a moment.
        while (found := self._new()) and loop.time() < end:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        return found

    def _new(self) -> list[str]:
        now = Traces.now()
        tasks = now.tasks - self.tasks - {asyncio.current_task()}
        return [
            *(f"a task still runs: {t.get_name()} ({t.get_coro()!r})" for t in tasks),
            *(f"a thread still runs: {t.name}" for t in now.threads - self.threads if t.is_alive()),
            *(f"a socket is still open: file descriptor {fd}" for fd, _ in now.sockets - self.sockets),
            *(f"a child process still runs: {_command(pid)}" for pid in now.children - self.children),
        ]


def _sockets() -> frozenset[tuple[int, int]]:
    found = set()
    for folder in (Path("/proc/self/fd"), Path("/dev/fd")):
        if not folder.is_dir():
            continue
        for entry in folder.iterdir():
            with suppress(OSError, ValueError):
                status = os.fstat(int(entry.name))
                if stat.S_ISSOCK(status.st_mode):
                    found.add((int(entry.name), status.st_ino))
        break
    return frozenset(found)


def _children() -> frozenset[int]:
    found: set[int] = set()
    for task in _listed(Path("/proc/self/task")):
        with suppress(OSError):
            found.update(int(pid) for pid in (task / "children").read_text().split())
    return frozenset(found)


def _listed(folder: Path) -> list[Path]:
    with suppress(OSError):
        return list(folder.iterdir())
    return []


def _command(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip() or str(
            pid
        )
    return str(pid)
