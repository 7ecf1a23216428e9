"""The full screen, against the smallest Textual app in the same run: first frame, key to echo, memory, markdown.

``tui.py [--rounds N]``. Real processes on a pseudo-terminal; a key's echo is the moment its character comes back while
a reply streams at 200 words a second. Exit status 1 when a bound is missed.
"""

import argparse
import asyncio
import fcntl
import os
import pty
import re
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from run import HERE, HERMES, PYTHON, Figure, host, model_server

HELLO = [PYTHON, str(HERE / "bare_tui.py")]
READY = b"Ask"  # of the placeholder of the input
MESSAGES = 500
KEYS = "ÄÖÜÇÑØÅÆ"  # in no reply


class Screen:
    """A process on a terminal of 120 x 40."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str]) -> None:
        self.began = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(command[0], list(command), {**env, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"})
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.seen = b""

    def until(self, mark: bytes, seconds: float = 30.0) -> float:
        """Read until something is written; how long that took, in seconds. Raises TimeoutError."""
        began = time.perf_counter()
        while mark not in _plain(self.seen):
            if not select.select([self.fd], [], [], max(0.0, began + seconds - time.perf_counter()))[0]:
                raise TimeoutError(f"{mark!r} was not written: {_plain(self.seen)[-500:]!r}")
            self.seen += os.read(self.fd, 1 << 16)
        return time.perf_counter() - began

    def drain(self, seconds: float) -> None:
        """Read whatever comes for a while."""
        until = time.perf_counter() + seconds
        while (left := until - time.perf_counter()) > 0:
            if select.select([self.fd], [], [], left)[0]:
                self.seen += os.read(self.fd, 1 << 16)

    def type(self, text: str) -> None:
        """Press keys."""
        self.seen = b""
        os.write(self.fd, text.encode())

    @property
    def memory(self) -> float:
        """Resident megabytes."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024

    @property
    def cpu(self) -> float:
        """Seconds of processor used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """Kill it."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def _plain(data: bytes) -> bytes:
    return re.sub(rb"\x1b\[[0-9;?<>=]*[ -/]*[@-~]", b"", data)


@contextmanager
def screen(command: Sequence[str], env: Mapping[str, str]) -> Iterator[Screen]:
    """One, killed at the end."""
    made = Screen(command, env)
    try:
        yield made
    finally:
        made.end()


def first_frame(env: Mapping[str, str], rounds: int, bound: float = 1.6, how: str = "") -> Figure:
    """From the start of the process to the first frame with an input that can be typed into. ``how`` names the way."""
    taken: dict[str, list[float]] = {"ours": [], "bare": []}
    for _ in range(rounds):
        for name, command, mark in (("ours", [HERMES, "--tui"], READY), ("bare", HELLO, b"bare screen")):
            with screen(command, env) as one:
                one.until(mark)
                taken[name].append(time.perf_counter() - one.began)
    ratio = statistics.median(a / b for a, b in zip(taken["ours"], taken["bare"], strict=True))
    ours, bare = (statistics.median(taken[name]) * 1000 for name in ("ours", "bare"))
    return Figure(f"first frame{how} / bare Textual", ratio, bound, f"{ours:.0f} ms / {bare:.0f} ms")


def echo(env: Mapping[str, str], seconds: float) -> Iterator[Figure]:
    """A key pressed ten times a second while a reply streams."""
    with screen([HERMES, "--tui", "-m", "paced-4000-r200"], env) as one:
        one.until(READY)
        one.drain(2.0)
        one.type("go\r")
        one.until(b"word20 ")
        before, began, taken, at = one.cpu, time.perf_counter(), [], 0
        while time.perf_counter() - began < seconds:
            key = KEYS[at % len(KEYS)]
            one.type(key)
            taken.append(one.until(key.encode(), 5.0) * 1000)
            one.drain(0.1)
            at += 1
            if at % 40 == 0:
                one.type("\x15")  # the line is emptied now and then
                one.drain(0.1)
        busy = (one.cpu - before) / (time.perf_counter() - began)
    taken.sort()
    p95 = taken[int(len(taken) * 0.95)]
    yield Figure(
        "key to echo p95, ms",
        p95,
        30.0,
        f"p50 {statistics.median(taken):.1f}, worst {taken[-1]:.1f}, {len(taken)} keys",
    )
    yield Figure("processor while it streams, %", busy * 100, 100.0, "200 words a second")


def memory(env: Mapping[str, str]) -> Figure:
    """Resident after a long session was opened."""
    with screen(HELLO, env) as bare:
        bare.until(b"bare screen")
        bare.drain(2.0)
        least = bare.memory
    with screen([HERMES, "--tui", "-c"], env) as one:
        one.until(b"answer number 249", 30.0)
        one.drain(3.0)
        ours = one.memory
    return Figure(f"memory with {MESSAGES} messages / bare", ours / least, 1.5, f"{ours:.0f} MB / {least:.0f} MB")


def markdown(env: Mapping[str, str]) -> Figure:
    """Processor for one reply of 160 KB of markdown, streamed; the kernel's part is in it."""
    with screen([HERMES, "--tui", "-m", "markdown-160"], env) as one:
        one.until(READY)
        one.drain(2.0)
        before = one.cpu
        one.type("go\r")
        one.until(b"the very end", 120.0)
        return Figure("160 KB of markdown, processor s", one.cpu - before, 2.0, "whole process, kernel and store too")


async def long_session(home: Path) -> None:
    """A session of many messages in the store."""
    from hermes_core import Hermes
    from hermes_core.types import Message, Text

    said = [
        Message(role=role, parts=(Text(text=text),))
        for number in range(MESSAGES // 2)
        for role, text in (
            ("user", f"Question number {number}: what is in this folder, and why?"),
            (
                "assistant",
                f"This is answer number {number}.\n\n- one `thing`\n- **another** thing\n\n" + "Words. " * 60,
            ),
        )
    ]
    async with Hermes(home=home) as hermes:
        runtime = hermes.runtime
        state = await runtime.sessions.take("", "tui", runtime.owner)
        await runtime.sessions.keep(state, await runtime.store(), said)


def main() -> int:
    """Measure everything. Returns 1 when a bound is missed."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=9, help="counted pairs for the first frame")
    options.add_argument("--seconds", type=float, default=12.0, help="how long keys are pressed")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, model_server() as url:
        home = Path(folder) / "home"
        home.mkdir()
        (home / "config.yaml").write_text(
            f"model: {{provider: custom, base_url: '{url}', api_key: x, default: echo}}\n"
        )
        env = {**os.environ, "HERMES_HOME": str(home), "HOME": folder}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        subprocess.run([HERMES, "-z", "hello"], env=env, check=True, stdout=subprocess.DEVNULL)
        kept = True
        for figure in figures(env, home, chosen.rounds, chosen.seconds):
            mark = "kept  " if figure.kept else "MISSED"
            kept = kept and figure.kept
            line = f"{mark}  {figure.name:<36} {figure.value:>8.2f}  bound {figure.bound:g}  ({figure.note})"
            print(line, flush=True)
    return 0 if kept else 1


def figures(env: Mapping[str, str], home: Path, rounds: int, seconds: float) -> Iterator[Figure]:
    """One after another."""
    yield first_frame(env, rounds)
    with host(env):
        yield first_frame(env, rounds, 1.3, " through a host")
    yield from echo(env, seconds)
    yield markdown(env)
    asyncio.run(long_session(home))
    yield memory(env)


if __name__ == "__main__":
    sys.exit(main())
