"""Runs where commands run, not in Hermes: starts one call of a tool, bounds it, ends all it started, says what it was.

Its text is given to ``python -I -S -c`` and reads one JSON job from standard input. It needs nothing but the standard
library of Python 3.8, and says its answer as one line that begins with a word only Hermes and it know: what the tool
prints never reaches its output. It works as two processes: whoever ends the first one, however rudely, is noticed by
the second, which then ends the call and all it started.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
from typing import Any

READ = 65_536


def prctl() -> Any:
    """The system call by that name, or nothing where there is none."""
    try:
        import ctypes

        return ctypes.CDLL(None, use_errno=True).prctl
    except Exception:  # noqa: BLE001 - no ctypes, no libc, another system: then without
        return None


def limit(job: Any) -> None:
    """What the call may use at most. A bound that a system does not know is left out; the others hold."""
    import resource

    most = job["limits"]
    wanted = {
        "RLIMIT_AS": most["memory"], "RLIMIT_CPU": int(most["seconds"]) + 1, "RLIMIT_FSIZE": most["file"],
        "RLIMIT_NOFILE": 64, "RLIMIT_CORE": 0,
    }  # fmt: skip
    if not job["programs"] and not job["hosts"]:
        wanted["RLIMIT_NPROC"] = 0
    for name, value in wanted.items():
        with contextlib.suppress(AttributeError, ValueError, OSError):
            kind = getattr(resource, name)
            hard = resource.getrlimit(kind)[1]
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (bound, bound))


def door(job: Any) -> str:
    """The address of the way out of a wall, on this machine's own loopback; empty where the network is open or shut."""
    given = os.environ.get("HTTPS_PROXY", "")
    port = given[len("http://127.0.0.1:") :] if given.startswith("http://127.0.0.1:") else ""
    return given if job["hosts"] and port.isdigit() else ""


def start(job: Any, scratch: str, call: Any) -> tuple[int, int, int, int]:
    """Start the interpreter that runs the tool; its process, and the ends of its pipes that are ours."""
    pipes = [os.pipe() for _ in range(3)]
    (their_in, our_in), (our_out, their_out), (our_result, their_result) = pipes
    us = os.getpid()
    child = os.fork()
    if child:
        for theirs in (their_in, their_out, their_result):
            os.close(theirs)
        for ours in (our_in, our_out, our_result):
            os.set_blocking(ours, False)
        return child, our_in, our_out, our_result
    try:
        os.setpgid(0, 0)
        if call:
            call(1, signal.SIGKILL, 0, 0, 0)  # it ends with us
        if os.getppid() != us:
            os._exit(125)
        kept = [os.dup(their_in), os.dup(their_out), os.dup(their_result)]
        kept = [fd if fd > 3 else os.dup2(fd, fd + 20) for fd in kept]
        for fd, place in zip((kept[0], kept[1], kept[1], kept[2]), (0, 1, 2, 3)):  # noqa: B905 - 3.8
            os.dup2(fd, place)
        os.closerange(4, 256)
        limit(job)
        marker = {name: os.environ[name] for name in ("HERMES_RUN",) if name in os.environ}
        path = {"PATH": os.environ.get("PATH", os.defpath)} if job["programs"] else {}
        way = {name: door(job) for name in ("http_proxy", "https_proxy") if door(job)}
        env = {"HOME": scratch, "TMPDIR": scratch, "LANG": "C.UTF-8", **path, **marker, **way}
        words = [sys.executable, "-I", "-B"] + ([] if job["site"] else ["-S"]) + ["-c", job["inside"]]
        os.execve(sys.executable, words, env)  # noqa: S606
    except BaseException:  # noqa: BLE001 - this is a copy of the supervisor, which must never go on
        os._exit(126)


class Run:
    """One call at work."""

    def __init__(self, job: Any, scratch: str, call: Any, alive: int) -> None:
        self.alive = alive
        self.most = job["limits"]
        self.printed, self.said, self.total = bytearray(), bytearray(), 0
        self.child, self.feed, self.out, self.result = start(job, scratch, call)
        told = ("code", "entry", "name", "arguments", "hosts", "programs", "reads", "writes", "calls", "known",
                "seal")  # fmt: skip
        self.left = json.dumps(dict({name: job[name] for name in told}, scratch=scratch, door=door(job))).encode()

    def wait(self) -> tuple[str, int]:
        """How it ended, in a word, and the exit status where that says how."""
        until, status, ended = time.monotonic() + self.most["seconds"], None, 0.0
        while True:
            now = time.monotonic()
            if status is None:
                pid, got = os.waitpid(self.child, os.WNOHANG)
                if pid:
                    status, ended = got, now
            drained = self.pump(0.0 if status is not None else 0.02)
            if self.total > self.most["output"]:
                return "flood", 0
            if len(self.said) > self.most["result"]:
                return "large", 0
            if status is not None and (drained or now - ended > 0.2):
                return ("signal", os.WTERMSIG(status)) if os.WIFSIGNALED(status) else ("exit", os.WEXITSTATUS(status))
            if status is None and now > until:
                return "late", 0

    def pump(self, seconds: float) -> bool:
        """Move what is there to be moved; whether both of its pipes are at their end."""
        watched = [fd for fd in (self.out, self.result) if fd >= 0]
        readable, writable, _ = select.select(
            [*watched, self.alive], [self.feed] if self.feed >= 0 else [], [], seconds
        )
        if self.alive in readable:
            raise SystemExit(129)
        if writable:
            self.push()
        if self.out in readable:
            self.out, data = self.take(self.out)
            self.total += len(data)
            self.printed += data[: max(0, self.most["shown"] - len(self.printed))]
        if self.result in readable:
            self.result, data = self.take(self.result)
            self.said += data
        return self.out < 0 and self.result < 0

    def push(self) -> None:
        """Give it more of its job."""
        try:
            self.left = self.left[os.write(self.feed, self.left[:READ]) :]
        except BlockingIOError:
            return
        except OSError:
            self.left = b""
        if not self.left:
            os.close(self.feed)
            self.feed = -1

    def take(self, fd: int) -> tuple[int, bytes]:
        """What a pipe has; the pipe is -1 at its end."""
        try:
            data = os.read(fd, READ)
        except BlockingIOError:
            return fd, b""
        if data:
            return fd, data
        os.close(fd)
        return -1, b""


def parents() -> dict[int, int]:
    """The parent of each process, where the system tells."""
    found: dict[int, int] = {}
    try:
        names = [name for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
    except OSError:
        return found
    for name in names:
        with contextlib.suppress(OSError, ValueError):
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                text = file.read()
            state, parent = text[text.rindex(b")") + 2 :].split()[:2]
            if state not in (b"Z", b"X"):
                found[int(name)] = int(parent)
    return found


def end_all(child: int) -> None:
    """End what is left of the call: whatever lost its parent became a child of ours."""
    me = os.getpid()
    for attempt in range(400):
        with contextlib.suppress(OSError):
            os.killpg(child, signal.SIGKILL)
        over, grown, tree = parents(), True, {me}
        while grown:
            more = {pid for pid, parent in over.items() if parent in tree} - tree
            tree |= more
            grown = bool(more)
        for pid in tree - {me}:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            if tree == {me}:
                return
        time.sleep(min(0.05, 0.002 * (attempt + 1)))


def oversee(job: Any, alive: int) -> None:
    """Run the job, end all of it, say what it was. ``alive`` is a pipe that ends with the process in front of us."""
    call = prctl()
    if call:
        call(36, 1, 0, 0, 0)  # whatever loses its parent becomes a child of ours
        call(38, 1, 0, 0, 0)  # and nothing gains rights by running a program

    def stop(number: int, _frame: Any) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, stop)
    scratch = os.path.realpath(tempfile.mkdtemp(prefix="hermes-tool-"))
    run: Any = None
    how, status = "exit", 0
    try:
        run = Run(job, scratch, call, alive)
        how, status = run.wait()
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if run:
            end_all(run.child)
        shutil.rmtree(scratch, ignore_errors=True)
    answer = {
        "how": how, "status": status, "printed": bytes(run.printed).decode("utf-8", "replace"),
        "said": "" if how in ("large", "flood") else bytes(run.said).decode("utf-8", "replace"),
    }  # fmt: skip
    line = f"\n{job['word']} {json.dumps(answer)}\n".encode()
    while line:
        line = line[os.write(1, line) :]


def main() -> None:
    """Read the job and wait for the process that oversees it."""
    job = json.loads(sys.stdin.buffer.read())
    alive, held = os.pipe()
    overseer = os.fork()
    if overseer:
        os.close(alive)
        status = os.waitpid(overseer, 0)[1]
        os._exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
    os.close(held)
    os.setsid()
    oversee(job, alive)


main()
