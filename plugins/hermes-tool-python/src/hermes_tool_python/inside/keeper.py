"""Runs where commands run, not in Hermes: starts the interpreter of scripts, takes what they print, and ends it all.

Its text is given to ``python -I -c`` with one JSON argument, and needs the standard library of Python 3.8 alone. The
interpreter, whose text is in that argument, reads what to run from standard input. Both processes write to standard
output, in lines that ``lines.py`` reads. Of what scripts print this one keeps the beginning and the end. When standard
input ends, whoever held it is gone: then everything ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
import time
from typing import Any

PIECE = 4000  # characters of a message in one line
LIVE = 16_000  # bytes of output that are shown while a script runs
LOOK = 250  # milliseconds between looks at how many processes there are
MANY = 512  # processes and threads that the scripts of one interpreter may have


def say(fd: int, who: str, message: Any) -> None:
    """Write a message in lines that no other writer cuts apart."""
    text = json.dumps(message)
    while True:
        piece, text = text[:PIECE], text[PIECE:]
        os.write(fd, f"{who}{'+' if text else '.'}{piece}\n".encode())
        if not text:
            return


def prctl() -> Any:
    """The system call by that name, or nothing where there is none."""
    try:
        import ctypes

        return ctypes.CDLL(None, use_errno=True).prctl
    except Exception:  # noqa: BLE001 - no ctypes, no libc, another system: then without
        return None


class Kept:
    """The beginning and the end of what was printed."""

    def __init__(self, most: int) -> None:
        self.first, self.most = most * 2 // 5, most
        self.head, self.tail, self.total = bytearray(), bytearray(), 0

    def take(self, data: bytes) -> None:
        """Keep more; the middle goes."""
        self.total += len(data)
        room = self.first - len(self.head)
        if room > 0:
            self.head += data[:room]
            data = data[room:]
        self.tail += data
        if len(self.tail) > 2 * self.most:
            del self.tail[: len(self.tail) - (self.most - self.first)]

    def told(self) -> Any:
        """What was kept, and how much was left out."""
        tail = bytes(self.tail[-(self.most - self.first) :])
        left = self.total - len(self.head) - len(tail)
        return {"head": self.head.decode("utf-8", "replace"), "tail": tail.decode("utf-8", "replace"), "left": left}


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


def everything() -> int:
    """How many processes and threads the system has; 0 where it does not tell."""
    try:
        with open("/proc/loadavg", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[3].partition(b"/")[2])
    except (OSError, ValueError, IndexError):
        return 0


def family() -> set[int]:
    """This process and all that descend from it."""
    over, grown, tree = parents(), True, {os.getpid()}
    while grown:
        more = {pid for pid, parent in over.items() if parent in tree} - tree
        tree |= more
        grown = bool(more)
    return tree


def signalled(pids: set[int], number: int) -> None:
    """Send a signal to processes, some of which may be gone."""
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def end_others(child: int) -> None:
    """End what the interpreter started, and not itself. All are stopped first, so that none can start another."""
    known: set[int] = set()
    for _ in range(400):
        others = family() - {os.getpid(), child}
        if others <= known:
            break
        signalled(others, signal.SIGSTOP)
        known |= others
    signalled(known, signal.SIGKILL)


def end_all(child: int) -> None:
    """End the interpreter and all it started: whatever lost its parent became a child of ours."""
    for attempt in range(400):
        with contextlib.suppress(OSError):
            os.killpg(child, signal.SIGKILL)
        others = family() - {os.getpid()}
        signalled(others, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            if not others:
                return
        time.sleep(min(0.05, 0.002 * (attempt + 1)))


class Keeper:
    """Looks after the interpreter: takes what it prints, notices its end and that of Hermes."""

    def __init__(self, job: Any, child: int, control: socket.socket, out: int, alarm: int) -> None:
        self.child, self.control, self.out, self.alarm = child, control, out, alarm
        self.most, self.heard = job["output"], b""
        self.kept, self.live = Kept(self.most), 0
        self.before = everything()
        for fd in (out, alarm):
            os.set_blocking(fd, False)
        control.setblocking(False)

    def watch(self) -> None:
        """Work until the interpreter has ended, or nobody is there to talk to."""
        poll = select.poll()
        poll.register(0, 0)  # its end is told unasked
        for fd in (self.out, self.control.fileno(), self.alarm):
            poll.register(fd, select.POLLIN)
        while True:
            for fd, event in poll.poll(LOOK):
                if fd == 0 and event:
                    return
                if fd == self.out:
                    self.drain()
                elif fd == self.control.fileno() and not self.listen():
                    poll.unregister(fd)
            status = self.status()
            if self.multiplies():
                end_all(self.child)
                self.drain()
                say(1, "w", {"died": ["processes", MANY], **self.kept.told()})
                return
            if status is not None:
                end_all(self.child)
                self.drain()
                how = ["signal", os.WTERMSIG(status)] if os.WIFSIGNALED(status) else ["exit", os.WEXITSTATUS(status)]
                say(1, "w", {"died": how, **self.kept.told()})
                return

    def multiplies(self) -> bool:
        """Whether it started more processes than it may have. The system is asked first, as that costs nothing."""
        if everything() - self.before <= MANY:
            return False
        return len(family()) > MANY

    def status(self) -> Any:
        """How the interpreter ended, or nothing; what it left behind and lost is taken in, too."""
        found = None
        with contextlib.suppress(OSError):
            os.read(self.alarm, 4096)
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    break
                found = status if pid == self.child else found
        return found

    def drain(self) -> None:
        """Take what was printed: all that is there now, but never without an end."""
        for _ in range(64):
            try:
                data = os.read(self.out, 65_536)
            except BlockingIOError:
                return
            if not data:
                return
            if self.live < LIVE:
                piece = data[: LIVE - self.live]
                self.live += len(piece)
                say(1, "w", {"live": piece.decode("utf-8", "replace")})
            self.kept.take(data)

    def listen(self) -> bool:
        """Hear how a script ended, and tell it with what it printed; whether more may come."""
        try:
            data = self.control.recv(65_536)
        except BlockingIOError:
            return True
        except OSError:
            return False
        *lines, self.heard = (self.heard + data).split(b"\n")
        if not data or len(self.heard) > 1_000_000:
            return False
        for line in lines:
            message = json.loads(line)
            if message["end"].get("late"):
                end_others(self.child)
            self.drain()
            say(1, "w", {**message, **self.kept.told()})
            self.kept, self.live = Kept(self.most), 0
        return True


def main() -> None:
    """Start the interpreter and look after it."""
    job = json.loads(sys.argv[1])
    control, theirs = socket.socketpair()
    out, their_out = os.pipe()
    ring, alarm = os.pipe()
    call, us = prctl(), os.getpid()
    child = os.fork()
    if not child:
        try:
            os.setpgid(0, 0)
            if call:
                call(1, signal.SIGKILL, 0, 0, 0)  # it ends with the other
            if os.getppid() != us:
                os._exit(125)
            control.close()
            for fd in (out, ring, alarm):
                os.close(fd)
            scope: Any = {"__name__": "interpreter"}
            exec(compile(job.pop("interpreter"), "<interpreter>", "exec"), scope)  # noqa: S102 - what this is for
            scope["interpret"](job, theirs, their_out, call)
        finally:
            os._exit(71)
    if call:
        call(36, 1, 0, 0, 0)  # whatever loses its parent becomes a child of ours
    theirs.close()
    os.close(their_out)
    os.set_blocking(alarm, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(alarm, warn_on_full_buffer=False)

    def stop(number: int, _frame: Any) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, stop)
    try:
        Keeper(job, child, control, out, ring).watch()
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        end_all(child)


main()
