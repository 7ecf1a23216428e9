"""Copying: by a program where there is a desktop, else by asking the terminal."""

import asyncio
import base64
import contextlib
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from hermes_core.values import frozen

__all__ = ["LIMIT", "Clipboard", "Copied"]

LIMIT = 74_994  # bytes: what as base64 fits the 100,000 characters that terminals take
_PATIENCE = 3.0


@frozen(kw_only=True)
class Copied:
    """What became of a copy. ``note`` is a line for the person."""

    way: Literal["program", "terminal", "none"]
    note: str


class Clipboard:
    """Puts text on the person's clipboard. ``write`` takes what goes to the terminal."""

    def __init__(
        self,
        write: Callable[[str], object],
        environ: Mapping[str, str],
        *,
        which: Callable[[str], str | None] = shutil.which,
    ) -> None:
        self._write = write
        self._environ = dict(environ)
        self._which = which

    async def copy(self, text: str) -> Copied:
        """Copy a text."""
        data = text.encode("utf-8", "replace")
        for words in programs(self._environ, sys.platform):
            if self._which(words[0]) and await self._run(words, data):
                where = "tmux and its terminal" if words[0] == "tmux" else "the clipboard"
                return Copied(way="program", note=f"Copied to {where} ({_amount(text)}).")
        if self._environ.get("STY"):
            return Copied(way="none", note="Not copied: GNU screen keeps the terminal's clipboard to itself.")
        if len(data) > LIMIT:
            note = f"Not copied: {_amount(text)} are too many for a terminal's clipboard ({LIMIT:,} bytes)."
            return Copied(way="none", note=note)
        self._write(f"\x1b]52;c;{base64.b64encode(data).decode()}\x1b\\")
        return Copied(way="terminal", note=f"Sent to the terminal's clipboard ({_amount(text)}).")

    async def _run(self, words: Sequence[str], data: bytes) -> bool:
        try:
            process = await asyncio.create_subprocess_exec(
                *words,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,  # xclip stays to serve the clipboard, and would hold a pipe open
                stderr=asyncio.subprocess.DEVNULL,
                env=self._environ,
            )
        except OSError:
            return False
        try:
            async with asyncio.timeout(_PATIENCE):
                await process.communicate(data)
        except (TimeoutError, OSError):
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            return False
        return process.returncode == 0


def programs(environ: Mapping[str, str], platform: str) -> list[list[str]]:
    """The programs that reach the person's clipboard, best first; on another machine's desktop they would not."""
    if environ.get("TEXTUAL_DRIVER"):  # the person's clipboard is the browser's
        return []
    remote = environ.get("SSH_TTY") or environ.get("SSH_CONNECTION")
    found: list[list[str]] = []
    if not remote and platform == "darwin":
        found.append(["pbcopy"])
    if not remote and environ.get("WAYLAND_DISPLAY"):
        found.append(["wl-copy"])
    if not remote and environ.get("DISPLAY"):
        found += [["xclip", "-selection", "clipboard", "-in"], ["xsel", "--clipboard", "--input"]]
    if environ.get("WSL_DISTRO_NAME"):
        found.append(["clip.exe"])
    if environ.get("TMUX"):  # it keeps what programs send to the terminal; asked itself, it passes it on
        found.append(["tmux", "load-buffer", "-w", "-"])
    return found


def _amount(text: str) -> str:
    return f"{len(text):,} characters" if len(text) != 1 else "1 character"
