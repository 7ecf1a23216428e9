"""Writing in an editor of one's own."""

import asyncio
import contextlib
import os
import shlex
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

__all__ = ["NoEditor", "edit"]

LARGEST = 4_000_000  # bytes that are read back


class NoEditor(Exception):
    """Why no editor was opened, or what it did wrong."""


def _command() -> list[str]:
    """What ``$VISUAL`` or ``$EDITOR`` names."""
    for variable in ("VISUAL", "EDITOR"):
        if not (said := os.environ.get(variable, "").strip()):
            continue
        try:
            words = shlex.split(said)
        except ValueError:
            raise NoEditor(f"${variable} cannot be read as a command: {said}") from None
        if shutil.which(words[0]) is None:
            raise NoEditor(f"${variable} names {words[0]}, and there is no such program.")
        return words
    raise NoEditor("No editor is set. Set VISUAL or EDITOR, for example: export EDITOR=nano")


def _read(file: Path) -> str:
    with file.open("rb") as back:
        return back.read(LARGEST).decode("utf-8", "replace")


@contextlib.contextmanager
def _spared() -> Iterator[None]:
    """Ctrl+C in the editor reaches this process too, and is not meant for it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: None)  # not SIG_IGN: the editor would inherit that
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


async def edit(app: App[Any], text: str) -> str:
    """The text as the person left it. The terminal is the editor's meanwhile; the loop goes on, so a turn does too."""
    command = _command()
    descriptor, name = tempfile.mkstemp(prefix="hermes-", suffix=".md")  # only its owner can read it
    file = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as out:
            out.write(text)
        try:
            # Nothing may be drawn over the editor: a batch holds every repaint back until it ends.
            with app.batch_update(), app.suspend(), _spared():
                process = await asyncio.create_subprocess_exec(*command, name)
                status = await process.wait()
        except SuspendNotSupported:
            raise NoEditor("An editor cannot be opened here: there is no terminal to lend it.") from None
        except OSError as error:
            raise NoEditor(f"{command[0]} cannot be started: {error.strerror or error}.") from None
        if status:
            raise NoEditor(f"{command[0]} ended with status {status}; your text is as it was.")
        written = _read(file)
        return written if text.endswith("\n") else written.removesuffix("\n")
    except OSError as error:
        raise NoEditor(f"The editor's file cannot be used: {error.strerror or error}.") from None
    finally:
        with contextlib.suppress(OSError):
            file.unlink()
