"""Reading and writing one file by a process of its own on the other side of the wall."""

# ruff: noqa: PTH103, PTH105, PTH108, PTH110, PTH116, PTH118 - pathlib costs more than the rest

from __future__ import annotations

import contextlib
import os
import stat

__all__ = ["FILES", "plain"]


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
        _tell(plain(error))
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
        _tell(plain(error))
        return 1


FILES = {"read": _read, "write": _write}


def plain(error: OSError) -> str:
    """An error as the end of a sentence."""
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]
