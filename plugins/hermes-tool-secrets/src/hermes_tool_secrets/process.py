"""Running a program that prints secrets: with a clean environment, bounded output, and an end."""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from threading import Thread
from typing import IO

__all__ = ["Answer", "run"]

_LARGEST = 1_048_576  # bytes of what it prints
_PLAIN = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TMPDIR", "TZ")


class Answer:
    """What a program printed, and how it ended: its status, or None when it was stopped. ``said`` is its errors."""

    def __init__(self, status: int | None, printed: bytes, said: str, *, long: bool) -> None:
        self.status, self.printed, self.said, self.long = status, printed, said, long

    def __repr__(self) -> str:
        return f"Answer({self.status})"  # a traceback with values of variables shows nothing of it


def run(argv: Sequence[str], seconds: float, variables: Sequence[str], secrets: Mapping[str, str]) -> Answer:
    """Run a program without a shell, an input or a terminal. Raises OSError when it cannot be started.

    It and what it started are ended when the time is over, also where this process is killed meanwhile.
    """
    around = {name: os.environ[name] for name in (*_PLAIN, *variables) if name in os.environ}
    if keeper := shutil.which("timeout"):  # of coreutils: it outlives us
        argv = [keeper, "--kill-after=1", f"{seconds + 1:.1f}", *argv]
    process = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**around, **secrets},
        cwd="/",
        start_new_session=True,
    )
    assert process.stdout
    assert process.stderr
    printed, said = bytearray(), bytearray()
    readers = [
        Thread(target=_read, args=(pipe, into), daemon=True)
        for pipe, into in ((process.stdout, printed), (process.stderr, said))
    ]
    for reader in readers:
        reader.start()
    try:
        status: int | None = process.wait(seconds)
    except subprocess.TimeoutExpired:
        status = None
    finally:
        _end(process)
        for reader in readers:
            reader.join(1.0)
    long = len(printed) > _LARGEST
    return Answer(status, b"" if long else bytes(printed), said[:_LARGEST].decode(errors="replace"), long=long)


def _read(pipe: IO[bytes], into: bytearray) -> None:
    """Take what comes, and no more than is looked at; what is beyond is read and dropped."""
    with pipe:
        while piece := pipe.read1(65_536):  # type: ignore[attr-defined]
            if len(into) <= _LARGEST:
                into += piece


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End what is left of its group: a program that went into the background keeps nothing open."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
