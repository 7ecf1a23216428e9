"""Runs as process 1 inside the sandbox: starts commands, reaps them, ends trees. Knows nothing of Hermes.

Started by file name with the bare standard library of any Python from 3.9 on. Hermes asks over a socket of messages
(descriptor in argv); a request's body and pipes come as descriptors with it. All that is said back is JSON, and
Hermes believes none of it further than its own limits: a command that took this process over would have gained nothing
but the power to lie about commands.

Process 1 of a pid namespace cannot be killed or stopped from inside, everything that loses its parent comes to it, and
the kernel ends everything inside when it ends: when Hermes is gone, the socket closes.
"""

# ruff: noqa: PTH103, PTH105, PTH108, PTH110, PTH116, PTH118, PTH123, PTH208 - pathlib costs more than the rest

from __future__ import annotations

import array
import contextlib
import json
import os
import resource
import select
import signal
import socket
import stat
import subprocess
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

TICK = 0.02  # seconds between looks at what is being ended
PATIENCE = 2.0  # seconds of killing one by one before all goes at once
WATCH = 0.2  # seconds between looks at the number of processes, where nothing else bounds it
MARK = b"HERMES_RUN="  # Hermes gives it to every command, with a value that no other one has
ENVIRON_LIMIT = 100_000
DUMPABLE = 4  # PR_SET_DUMPABLE
DEAF_TO = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Jobs:
    """The commands of one sandbox."""

    def __init__(self, control: socket.socket, most: int) -> None:
        self.control = control
        self.most = most  # processes that may be, counted here; 0: something else bounds them
        self.leaders: dict[int, int] = {}  # pid -> job
        self.ending: dict[int, tuple[bytes, float, float]] = {}  # job -> its mark, time to kill, time to kill all

    def take(self) -> None:
        """One request. Ends the process, and so the sandbox, when Hermes is gone."""
        fds: array.array[int] = array.array("i")
        body, ancillary, _, _ = self.control.recvmsg(256, socket.CMSG_SPACE(8 * fds.itemsize))
        for level, kind, data in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
        if not body:
            os._exit(0)
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
            self.say(job, error=_reason(error, request))
        finally:
            for fd in fds[1:]:
                os.close(fd)

    def reap(self) -> None:
        """Tell which commands ended; bury everything else."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            job = self.leaders.pop(pid, None)
            if job is not None:
                code = os.waitstatus_to_exitcode(status)
                self.say(job, status=code if code >= 0 else 128 - code)

    def tick(self) -> None:
        """Go on with what is being ended."""
        now = clock()
        for job, (mark, soon, at_last) in list(self.ending.items()):
            if not self.members(job, mark):
                del self.ending[job]
                self.say(job, ended=True)
            elif now > at_last:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(-1, signal.SIGKILL)
            elif now > soon:
                self.signal(job, mark, signal.SIGKILL)
        if self.most and self.leaders and sum(name.isdigit() for name in os.listdir("/proc")) > self.most:
            os.kill(-1, signal.SIGKILL)

    def signal(self, job: int, mark: bytes, number: int) -> None:
        """Signal a command and all it started."""
        for pid in self.members(job, mark):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def members(self, job: int, mark: bytes) -> set[int]:
        """The living processes of a command: by group, session, descent, and the mark in their environment."""
        leader = next((pid for pid, its in self.leaders.items() if its == job), 0)
        entry = MARK + mark
        rows: list[tuple[int, int]] = []
        found: set[int] = set()
        for name in os.listdir("/proc"):
            if not name.isdigit() or name == "1":
                continue
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    text = file.read()
                state, parent, group, session = text[text.rindex(b")") + 2 :].split()[:4]
                if state in (b"Z", b"X"):
                    continue
                rows.append((int(name), int(parent)))
                if leader and leader in (int(name), int(group), int(session)):
                    found.add(int(name))
                    continue
                with open(f"/proc/{name}/environ", "rb") as file:
                    if mark and entry in file.read(ENVIRON_LIMIT).split(b"\0"):
                        found.add(int(name))
            except (OSError, ValueError):
                continue
        while more := {pid for pid, parent in rows if parent in found} - found:
            found |= more
        return found

    def say(self, job: int, **what: str | int) -> None:
        """Tell Hermes something about a command."""
        try:
            self.control.send(json.dumps({"job": job, **what}).encode())
        except OSError:
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
        status = _FILES[request["kind"]](request["path"])
    finally:
        os._exit(status)


def _reason(error: OSError, request: dict[str, Any]) -> str:
    if isinstance(error, BlockingIOError):
        return "the sandbox is full of processes"
    if isinstance(error, FileNotFoundError) and error.filename != request["cwd"]:
        return "no such program in the sandbox"
    return f"{error.filename}: {_plain(error)}" if error.filename == request["cwd"] else _plain(error)


def _close_others(kept: Collection[int]) -> None:
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in kept:
            with contextlib.suppress(OSError):
                os.close(int(name))


def _regular(status: os.stat_result) -> bool:
    if stat.S_ISREG(status.st_mode):
        return True
    what = "a folder" if stat.S_ISDIR(status.st_mode) else "a device, pipe or socket, not a file"
    _tell(f"it is {what}")
    return False


def _tell(text: str) -> None:
    os.write(1, text.encode(errors="surrogateescape"))


def _read(path: str) -> int:
    """Write a file's bytes to the output; 1 with the reason there instead, 2 when it ended too early."""
    try:
        # O_NONBLOCK: opening a FIFO must not wait for its other end before we can say no.
        source = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        if not _regular(os.fstat(source)):
            return 1
    except OSError as error:
        _tell(_plain(error))
        return 1
    while data := os.read(source, 1 << 20):
        view = memoryview(data)
        while view:
            view = view[os.write(1, view) :]
    return 0


def _write(path: str) -> int:
    """Replace a file as a whole with what comes in; its mode is kept and a link stays a link."""
    temporary = ""
    try:
        target = os.path.realpath(path)
        folder, name = os.path.split(target)
        before = os.stat(target) if os.path.exists(target) else None
        if before and not _regular(before):
            return 1
        os.makedirs(folder, exist_ok=True)
        temporary = os.path.join(folder, f".{name[:40]}.{os.urandom(6).hex()}.hermes")
        out = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with os.fdopen(out, "wb") as file:
            while data := os.read(0, 1 << 20):
                file.write(data)
            if before:
                os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))
        os.replace(temporary, target)
        return 0
    except OSError as error:
        with contextlib.suppress(OSError):
            if temporary:
                os.unlink(temporary)
        _tell(_plain(error))
        return 1


_FILES = {"read": _read, "write": _write}


def _plain(error: OSError) -> str:
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]


def _limit(limits: dict[str, int]) -> None:
    for name, value in limits.items():
        which = getattr(resource, name)
        hard = resource.getrlimit(which)[1]
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(which, (most, most))


def _shut(scope: bool) -> list[str]:
    """Close our own memory to others inside; with ``scope``, keep to sockets and processes of the sandbox."""
    try:
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
    except (ImportError, OSError):
        return []
    done = ["memory"] if libc.prctl(DUMPABLE, 0, 0, 0, 0) == 0 else []
    if scope:
        create, restrict = 444, 446
        rules = (ctypes.c_uint64 * 3)(0, 0, 3)  # no files, no ports, LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET and _SIGNAL
        ruleset = libc.syscall(create, ctypes.byref(rules), ctypes.sizeof(rules), 0)
        if ruleset >= 0:
            if libc.syscall(restrict, ruleset, 0) == 0:
                done.append("scope")
            os.close(ruleset)
    return done


def main() -> None:
    """Serve until the socket closes."""
    fd, settings = int(sys.argv[1]), json.loads(sys.argv[2])
    kept = {fd}
    _close_others(kept)  # before anything else: some of these lead out of the sandbox
    control = socket.socket(fileno=fd)
    control.setblocking(True)
    done = _shut(settings["scope"])
    _limit(settings["limits"])
    for number in DEAF_TO:  # by a handler, which no command inherits
        signal.signal(number, lambda *_: None)
    waking, wake = os.pipe()
    os.set_blocking(waking, False)
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    jobs = Jobs(control, settings["most"])
    control.send(json.dumps({"ready": done}).encode())
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(waking, select.POLLIN)
    while True:
        pause = TICK if jobs.ending else WATCH if jobs.most and jobs.leaders else None
        for ready, event in poll.poll(None if pause is None else pause * 1000):
            if ready == waking:
                with contextlib.suppress(BlockingIOError):
                    os.read(waking, 65536)
            elif event & select.POLLIN:
                jobs.take()
            else:
                os._exit(0)
        jobs.reap()
        jobs.tick()


if __name__ == "__main__":
    main()
