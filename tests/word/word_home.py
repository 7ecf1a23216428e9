"""A home of Hermes with what happens outside of it, and real processes in it that are killed."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

PATIENCE = 60.0  # seconds; only a failure takes so long


class Server:
    """The process whose forks are ``hermes``; it says which one has ended."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        program = str(Path(__file__).with_name("word_server.py"))
        self._process = subprocess.Popen([sys.executable, program], stdin=pipe, stdout=pipe, text=True)
        self._condition, self._started, self._ended = threading.Condition(), list[int](), dict[int, int]()
        assert self._process.stdout
        assert self._process.stdout.readline() == "ready\n"
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()
        self._reader.join()

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            word, pid, *status = line.split()
            with self._condition:
                if word == "started":
                    self._ended.pop(int(pid), None)  # numbers come again
                    self._started.append(int(pid))
                else:
                    self._ended[int(pid)] = int(status[0])
                self._condition.notify_all()

    def start(self, order: dict[str, Any]) -> int:
        """Start a process; its number."""
        assert self._process.stdin
        with self._condition:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            assert self._condition.wait_for(lambda: self._started, PATIENCE)
            return self._started.pop()

    def wait(self, pid: int, seconds: float) -> int | None:
        """The status with which a process ended, or nothing when it did not in time."""
        with self._condition:
            self._condition.wait_for(lambda: pid in self._ended, seconds)
            return self._ended.get(pid)


class Process:
    """One ``hermes``, and what it prints."""

    def __init__(self, server: Server, words: tuple[str, ...], env: dict[str, str], cwd: Path, place: Path) -> None:
        self.words, self._server = words, server
        self._out, self._err = place.with_suffix(".out"), place.with_suffix(".err")
        order = {"words": words, "env": env, "cwd": str(cwd), "out": str(self._out), "err": str(self._err)}
        self.began = time.monotonic()
        self.pid = server.start(order)

    @property
    def out(self) -> str:
        return self._out.read_text(errors="replace") if self._out.exists() else ""

    @property
    def err(self) -> str:
        return self._err.read_text(errors="replace") if self._err.exists() else ""

    def age(self) -> float:
        return time.monotonic() - self.began

    def wait(self, seconds: float = PATIENCE) -> int | None:
        return self._server.wait(self.pid, seconds)

    def kill(self, number: int = signal.SIGKILL) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def killed_after(self, seconds: float) -> bool:
        """Kill it so long after its start; whether it was still there."""
        if self.wait(max(0.0, self.began + seconds - time.monotonic())) is not None:
            return False
        self.kill()
        return self.wait() == -signal.SIGKILL


class Home:
    """A home, the folder that its commands work in, and everything that its processes printed."""

    def __init__(self, folder: Path, server: Server, config: str, *, extra: dict[str, str] | None = None) -> None:
        self.home, self.work, self._said = folder / "home", folder / "work", folder / "said"
        for made in (self.home, self.work, self._said):
            made.mkdir(parents=True)
        self.work.joinpath("effects").touch()
        self.home.joinpath("config.yaml").write_text(config.replace("WORK", str(self.work)))
        keep = {k: v for k, v in os.environ.items() if not k.startswith("HERMES_") and not k.endswith("_BASE_URL")}
        self.env = {**keep, "HERMES_HOME": str(self.home), "HOME": str(folder), "TMPDIR": str(folder), **(extra or {})}
        self._server = server
        self.processes: list[Process] = []
        self.run("trust", "add", str(self.work))  # else what commands wrote there is text from outside

    def start(self, *words: str) -> Process:
        place = self._said / str(len(self.processes))
        self.processes.append(Process(self._server, words, self.env, self.work, place))
        return self.processes[-1]

    def run(self, *words: str, status: tuple[int, ...] = (0,)) -> Process:
        """Run a command to its end."""
        process = self.start(*words)
        ended = process.wait()
        assert ended in status, (words, ended, process.out, process.err)
        assert "Traceback" not in process.err, process.err
        return process

    def lines(self, *words: str) -> list[dict[str, Any]]:
        """What a command prints as JSON lines."""
        return [json.loads(line) for line in self.run(*words).out.splitlines()]

    def effects(self) -> Counter[str]:
        """The lines that commands wrote outside."""
        return Counter(self.work.joinpath("effects").read_text().splitlines())

    def alive(self) -> dict[int, str]:
        """Processes that belong to this home, or work in its folder."""
        found, mark = {}, f"HERMES_HOME={self.home}".encode()
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                near = (process / "cwd").readlink().is_relative_to(self.work)
                mine = near or mark in (process / "environ").read_bytes().split(b"\0")
                if mine and (process / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                    found[int(process.name)] = (process / "cmdline").read_text().replace("\0", " ")[:120]
        return found

    def end_all(self) -> None:
        for pid in self.alive():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def orphans(home: Home, seconds: float = 5.0) -> dict[int, str]:
    """Which processes are left, after a moment."""
    deadline = time.monotonic() + seconds
    while (found := home.alive()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def valid(messages: list[dict[str, Any]]) -> str:
    """What is wrong with a history: people and models take turns, each call has one result, right after it."""
    waiting, before = list[str](), "assistant"
    for at, message in enumerate(messages):
        role = message["role"]
        if role == "system" and not at:
            continue
        if role == "tool":
            if message["tool_call_id"] not in waiting:
                return f"{at}: a result without a call"
            waiting.remove(message["tool_call_id"])
        elif waiting:
            return f"{at}: {waiting} have no result"
        elif role == before and role == "user":
            return f"{at}: {role} after {before}"
        before = "assistant" if role == "tool" else role
        waiting += [call["id"] for call in message.get("tool_calls") or ()]
    return f"{waiting} have no result" if waiting else ""


def moment(dice: random.Random, longest: float) -> float:
    """When to kill: any moment of a life is as likely as another."""
    return dice.random() * longest
