"""A notice on the desktop of who runs this process: by the system's own program, where there is a desktop."""

import asyncio
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from hermes_core.environment import for_commands
from hermes_core.errors import UserError

__all__ = ["absent", "command", "show"]

_SECONDS = 10.0
_TITLE, _BODY = 100, 500  # characters; more no desktop shows
_SAID = (
    "-e",
    "on run argv",
    "-e",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "-e",
    "end run",
)


def absent(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> str:
    """Say why there is no desktop here; empty where there is one."""
    if "SSH_CONNECTION" in environ and not (environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")):
        return "this is a connection over SSH, without a display"
    if platform == "darwin":
        return ""
    bus = bool(environ.get("DBUS_SESSION_BUS_ADDRESS")) or Path(f"/run/user/{os.getuid()}/bus").exists()
    return "" if bus else "no desktop session runs here (DBUS_SESSION_BUS_ADDRESS is not set)"


def command(title: str, body: str, *, urgent: bool = False, platform: str = sys.platform) -> Sequence[str]:
    """Return what shows a notice. Words are arguments that no program takes for options, or for formatting."""
    title, body = _plain(title, _TITLE), _plain(body, _BODY)
    if platform == "darwin":
        return ("osascript", *_SAID, title.lstrip("-"), body.lstrip("-"))
    marked = body.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")  # desktops read a body as HTML
    urgency = ("--urgency=critical",) if urgent else ()
    return ("notify-send", "--app-name=Hermes", "--icon=dialog-information", *urgency, "--", title, marked)


async def show(title: str, body: str, *, urgent: bool = False) -> None:
    """Show a notice. Raises UserError with what is wrong, and FileNotFoundError without the program that does it."""
    argv = command(title, body, urgent=urgent)
    program = shutil.which(argv[0])
    if program is None:
        raise FileNotFoundError(argv[0])
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        program, *argv[1:], stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=asyncio.subprocess.STDOUT,
        env=dict(for_commands()),
    )  # fmt: skip
    try:
        async with asyncio.timeout(_SECONDS):
            said, _ = await process.communicate()
    except TimeoutError:
        raise UserError(f"{argv[0]} did not come to an end: nothing shows notices here.") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        words = " ".join(said.decode("utf-8", "replace").split())[:200]
        raise UserError(f"{argv[0]} says: {words or f'exit status {process.returncode}'}")


def _plain(text: str, most: int) -> str:
    lines = ("".join(c for c in line if c.isprintable()).strip() for line in text.splitlines())
    joined = "\n".join(filter(None, lines))
    return joined if len(joined) <= most else f"{joined[: most - 1]}…"
