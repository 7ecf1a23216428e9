"""The screen that the person sits at: programs of this machine reach it, outside of any wall, with their rights."""

import asyncio
import os
import shutil
import sys
from collections.abc import Mapping, Sequence

from hermes_core.environment import for_commands
from hermes_core.errors import ToolError
from hermes_tool_computer.screen import Run, Screen, line
from hermes_tool_computer.x11 import INSTALL, X11

__all__ = ["missing", "person_screen", "runner"]

_ONE = 20.0  # seconds of one program
_PASSED = ("DISPLAY", "XAUTHORITY")
_OWN = "Or give it a screen of its own: hermes config set tools.computer.display own"


def missing(environ: Mapping[str, str], platform: str = sys.platform) -> tuple[str, str]:
    """Why the person's screen cannot be used, and what mends it; empty where it can."""
    if platform == "darwin":
        absent = [name for name in ("screencapture", "cliclick", "osascript") if not shutil.which(name)]
        return (f"{', '.join(absent)} is not installed.", "brew install cliclick") if absent else ("", "")
    if environ.get("WAYLAND_DISPLAY") or environ.get("XDG_SESSION_TYPE") == "wayland":
        return (
            "This session is Wayland, where no program may look at the screen of others, click or type there.",
            f"Log in to an X11 session. {_OWN}",
        )
    if not environ.get("DISPLAY"):
        return "There is no screen here: DISPLAY is not set.", f"Start Hermes in a graphical session. {_OWN}"
    absent = [name for name in ("xdotool", "xwd", "xmodmap") if not shutil.which(name)]
    return (f"{' and '.join(absent)} is not installed.", INSTALL) if absent else ("", "")


def person_screen() -> Screen:
    """The screen of this session. Raises ToolError where there is none that can be used."""
    why, hint = missing(os.environ)
    if why:
        raise ToolError(why, hint=hint, retry=False)
    if sys.platform == "darwin":
        from hermes_tool_computer.mac import Mac

        return Mac(runner({}))
    run = runner({name: os.environ[name] for name in _PASSED if name in os.environ})

    async def dump() -> bytes:
        return await run(("xwd", "-root", "-silent"), b"")

    return X11(run, dump, "your screen")


def runner(env: Mapping[str, str]) -> Run:
    """Runs programs of this machine; none outlives its call."""

    async def run(argv: Sequence[str], stdin: bytes) -> bytes:
        try:
            process = await asyncio.create_subprocess_exec(
                *argv, stdin=-1, stdout=-1, stderr=-1, env={**for_commands(), **env}, start_new_session=True
            )
        except OSError as error:
            raise ToolError(f"{argv[0]} cannot be started: {error.strerror}.", hint=INSTALL) from error
        try:
            async with asyncio.timeout(_ONE):
                out, err = await process.communicate(stdin)
        except TimeoutError:
            raise ToolError(f"{argv[0]} did not end within {_ONE:g} seconds.") from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode:
            raise ToolError(f"{argv[0]} failed: {line(err.decode(errors='replace'), 200) or process.returncode}")
        return out or err

    return run
