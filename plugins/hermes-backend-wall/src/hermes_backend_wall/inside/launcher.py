"""Starts commands behind the wall, reaps them, ends trees. Knows nothing of Hermes.

Started with the bare standard library of any Python from 3.9 on. Hermes asks over a socket of messages (descriptor in
argv); a request's body and pipes come as descriptors with it. All that is said back is JSON, and Hermes believes none
of it further than its own limits: a command that took this process over would have gained nothing but the power to lie
about commands.

Under bubblewrap it is process 1 of a pid namespace: it cannot be killed or stopped from inside, everything that loses
its parent comes to it, and the kernel ends everything inside when it ends. Behind Landlock the guardian has that part,
from outside. Either way all ends when Hermes is gone, for then the socket closes.
"""

# ruff: noqa: PTH123, PTH208 - pathlib costs more than the rest

from __future__ import annotations

import array
import contextlib
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time

from hermes_backend_wall.inside import guardian, kernel
from hermes_backend_wall.inside.door import Door
from hermes_backend_wall.inside.files import FILES, plain
from hermes_backend_wall.inside.processes import below, kill_all, rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any, NoReturn

TICK = 0.02  # seconds between looks at what is being ended
_LOCKS = 10  # RLIMIT_LOCKS, which Python has no name for
PATIENCE = 2.0  # seconds of killing one by one before all goes at once
WATCH = 0.2  # seconds between looks at the number of processes, where nothing else bounds it
MARK = b"HERMES_RUN="  # Hermes gives it to every command, with a value that no other one has
ENVIRON_LIMIT = 100_000
LONGEST = 1_000  # characters of a reason: a message that is cut cannot be read, and ends the sandbox
DEAF_TO = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Jobs:
    """The commands of one sandbox."""

    def __init__(self, control: socket.socket, most: int, *, alone: bool) -> None:
        self.control = control
        self.alone = alone  # a signal to everything reaches nothing but what was started here
        self.most = most  # processes that may be, counted here; 0: something else bounds them
        self.leaders: dict[int, int] = {}  # pid -> job
        self.ending: dict[int, tuple[bytes, float, float]] = {}  # job -> its mark, time to kill, time to kill all
        self.left = False  # whether something lives that a command left behind, and no command

    def take(self) -> None:
        """One request. Ends the process, and so the sandbox, when Hermes is gone."""
        fds: array.array[int] = array.array("i")
        body, ancillary, _, _ = self.control.recvmsg(256, socket.CMSG_SPACE(8 * fds.itemsize))
        for level, kind, data in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
        if not body:
            self.leave("Hermes closed the socket")
        words = body.split()
        if words[0] == b"start":
            self.start(int(words[1]), list(fds))
        elif words[0] == b"end":
            job, grace, mark = int(words[1]), float(words[2]), b"".join(words[3:])
            self.ending[job] = (mark, clock() + grace, clock() + grace + PATIENCE)
            self.signal(job, mark, signal.SIGTERM)

    def start(self, job: int, fds: list[int]) -> None:
        """Start a command, or a file's work; its body and pipes are descriptors."""
        with open(fds[0], "rb") as file:
            file.seek(0)
            request = json.loads(file.read())
        try:
            self.leaders[_work(request, fds[1:])] = job
        except OSError as error:
            self.say(job, error=_reason(error, request)[:LONGEST])
        except (ValueError, subprocess.SubprocessError) as error:  # a word that no system can take ends no one else
            self.say(job, error=ascii(str(error))[:LONGEST])
        finally:
            for fd in fds[1:]:
                os.close(fd)

    def reap(self) -> None:
        """Tell which commands ended, and whether any left something behind; bury everything else."""
        ended: list[tuple[int, int]] = []
        alone = False
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:  # who loses its parent comes to us, before that one is buried
                alone = True
                break
            if pid == 0:
                break
            job = self.leaders.pop(pid, None)
            if job is not None:
                code = os.waitstatus_to_exitcode(status)
                ended.append((job, code if code >= 0 else 128 - code))
        left = not alone and not self.leaders
        if left != self.left:
            self.left = left
            self.tell(left=left)  # first: who hears of an end must know
        for job, code in ended:
            self.say(job, status=code)

    def tick(self) -> None:
        """Go on with what is being ended."""
        now = clock()
        for job, (mark, soon, at_last) in list(self.ending.items()):
            if not self.members(job, mark):
                del self.ending[job]
                self.say(job, ended=True)
            elif now > at_last:
                kill_all(os.getpid(), at_once=self.alone)
            elif now > soon:
                self.signal(job, mark, signal.SIGKILL)
        if self.most and self.leaders and len(below(os.getpid(), rows())) > self.most:
            kill_all(os.getpid(), at_once=self.alone)

    def signal(self, job: int, mark: bytes, number: int) -> None:
        """Signal a command and all it started."""
        for pid in self.members(job, mark):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def members(self, job: int, mark: bytes) -> set[int]:
        """The living processes of a command: by group, session, descent, and the mark in their environment."""
        leader = next((pid for pid, its in self.leaders.items() if its == job), 0)
        entry = MARK + mark
        known = rows()
        ours = below(os.getpid(), known)
        found = {pid for pid in ours if leader and leader in (pid, known[pid].group, known[pid].session)}
        for pid in ours - found if mark else ():
            with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
                if entry in file.read(ENVIRON_LIMIT).split(b"\0"):
                    found.add(pid)
        for pid in tuple(found):
            found |= below(pid, known)
        return found

    def say(self, job: int, **what: str | int) -> None:
        """Tell Hermes something about a command."""
        self.tell(job=job, **what)

    def tell(self, **what: str | int) -> None:
        """Tell Hermes something."""
        try:
            self.control.send(json.dumps(what).encode())
        except OSError as error:
            self.leave(f"Hermes cannot be told: {error}")

    def leave(self, why: str) -> NoReturn:
        """End with all that was started."""
        with contextlib.suppress(OSError):
            os.write(2, f"{why}\n".encode())
        if self.alone:  # else the guardian does it
            kill_all(os.getpid(), at_once=True)
        os._exit(0)


def clock() -> float:
    """Seconds of a clock that only goes on."""
    return time.monotonic()


def _work(request: dict[str, Any], fds: list[int]) -> int:
    """Start what is asked; its process. Raises OSError."""
    output = fds[0]
    entrance = fds[1] if request["stdin"] else subprocess.DEVNULL
    if request["kind"] != "exec":
        return _fork(request, fds)
    kept: tuple[int, ...] = ()
    if len(fds) > 1 + request["stdin"]:  # where the shell leaves its state; far above what a script opens itself
        os.dup2(fds[-1], request["trace"])
        kept = (request["trace"],)
    folders = [folder for folder in (request["cwd"], request["else"]) if folder]
    try:
        for folder in folders:
            try:
                child = subprocess.Popen(
                    request["argv"],
                    stdin=entrance,
                    stdout=output,
                    stderr=output,
                    cwd=folder,
                    env=request["env"],
                    start_new_session=True,
                    pass_fds=kept,
                )
            except (FileNotFoundError, NotADirectoryError) as error:
                if error.filename != folder or folder == folders[-1]:  # the shell's last folder may be gone
                    raise
            else:
                break
    finally:
        for fd in kept:
            os.close(fd)
    child.returncode = 0  # we bury it ourselves
    return child.pid


def _fork(request: dict[str, Any], fds: list[int]) -> int:
    """A child that reads or writes a file."""
    pid = os.fork()
    if pid:
        return pid
    status = 2
    try:
        os.setsid()
        os.dup2(fds[1] if request["stdin"] else os.open("/dev/null", os.O_RDONLY), 0)
        os.dup2(fds[0], 1)
        os.dup2(fds[0], 2)
        _close_others(())
        status = FILES[request["kind"]](request["path"])
    finally:
        os._exit(status)


def _reason(error: OSError, request: dict[str, Any]) -> str:
    if isinstance(error, BlockingIOError):
        return "the sandbox is full of processes"
    if isinstance(error, FileNotFoundError) and error.filename != request["cwd"]:
        return "no such program in the sandbox"
    return f"{error.filename}: {plain(error)}" if error.filename == request["cwd"] else plain(error)


def _close_others(kept: Collection[int]) -> None:
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in kept:
            with contextlib.suppress(OSError):
                os.close(int(name))


def _low(fd: int) -> int:
    low = os.dup(fd)
    os.close(fd)
    return low


def _limit(limits: dict[str, int]) -> None:
    for name, value in limits.items():
        which = _LOCKS if name == "RLIMIT_LOCKS" else getattr(resource, name)
        hard = resource.getrlimit(which)[1]
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(which, (most, most))


def main() -> None:
    """Serve until the socket closes."""
    fd, out, settings = int(sys.argv[2]), int(sys.argv[3]), json.loads(sys.argv[4])
    kept = {fd, out}
    _close_others(kept)  # before anything else: some of these lead out of the sandbox
    # As low as can be: where they had the number at which a shell leaves its state, that would take their place.
    control, way = socket.socket(fileno=_low(fd)), socket.socket(fileno=_low(out))
    control.setblocking(True)
    _limit(settings["limits"])
    if "landlock" in settings:
        done, port = guardian.part(settings["landlock"], control, way)
        door = None
    else:
        done = ["memory"] if kernel.hide_memory() else []
        done += ["scope"] if settings["scope"] and kernel.scope() else []
        door = Door(way, known=False) if settings["door"] else None
        port = door.port if door else 0
    for number in DEAF_TO:  # by a handler, which no command inherits
        signal.signal(number, lambda *_: None)
    waking, wake = os.pipe()
    os.set_blocking(waking, False)
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    jobs = Jobs(control, settings["most"], alone=os.getpid() == 1 or "alone" in done)
    control.send(json.dumps({"ready": done, "door": port}).encode())
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(waking, select.POLLIN)
    if door:
        poll.register(door, select.POLLIN)
    while True:
        pause = TICK if jobs.ending else WATCH if jobs.most and jobs.leaders else None
        for ready, event in poll.poll(None if pause is None else pause * 1000):
            if ready == waking:
                with contextlib.suppress(BlockingIOError):
                    os.read(waking, 65536)
            elif door and ready == door.fileno():
                door.accept()
            elif event & select.POLLIN:
                jobs.take()
            else:
                jobs.leave(f"the socket is gone ({event})")
        jobs.reap()
        jobs.tick()
