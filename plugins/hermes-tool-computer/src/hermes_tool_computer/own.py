"""A screen of its own: an Xvfb in the place where the session's commands run, behind the same wall.

What `terminal` starts there shows on it, and nothing else does: the person's screen is not in reach. It ends with what
started it, however that went: a shell holds a pipe to Hermes, and ends it all when that closes.
"""

import asyncio
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hermes_core.errors import ToolError
from hermes_core.kinds import Workspace
from hermes_core.types import ExecRequest, Feature
from hermes_tool_computer.config import Config
from hermes_tool_computer.screen import line
from hermes_tool_computer.x11 import INSTALL, X11

if TYPE_CHECKING:
    from hermes_core.kinds import Process

__all__ = ["OwnScreen"]

_UP = 30.0  # seconds until it is there
_ONE = 20.0  # seconds of one command
_MOST = 300_000_000  # bytes of a picture
# It reads the cookie, as octal escapes; $1 is the size. The line that it says is `display NUMBER FOLDER`, or why not.
_KEEP = """
for p in Xvfb xdotool xmodmap; do
  command -v $p >/dev/null || { echo "failed $p is not installed"; exit 1; }
done
IFS= read -r cookie || exit 1
umask 077
d=$(mktemp -d "${TMPDIR:-/tmp}/hermes-display-XXXXXX") || { echo "failed no folder could be made"; exit 1; }
exec 4<&0
printf "$cookie" > "$d/auth"
Xvfb -displayfd 3 -auth "$d/auth" -fbdir "$d" -screen 0 "$1x24" -nolisten tcp -noreset \\
  3>"$d/number" 2>"$d/said" >/dev/null </dev/null 4<&- &
x=$!
trap 'kill "$x" "$c" 2>/dev/null; rm -rf "$d"' EXIT
trap 'exit 0' TERM INT HUP
(cat <&4 >/dev/null; kill "$x" 2>/dev/null; while kill -0 "$x" 2>/dev/null; do sleep 0.05; done; rm -rf "$d") &
c=$!
while kill -0 "$x" 2>/dev/null && [ ! -s "$d/number" ]; do sleep 0.05; done
if [ -s "$d/number" ]; then echo "display $(cat "$d/number") $d"; else echo "failed $(tail -n 1 "$d/said")"; fi
wait "$x"
"""


class OwnScreen(X11):
    """Open it with ``opened``."""

    def __init__(self, workspace: Workspace, process: "Process", number: str, folder: str) -> None:
        super().__init__(self._here, self._read, f"the agent's own screen :{number}")
        self._workspace, self._process = workspace, process
        self.environment = {"DISPLAY": f":{number}", "XAUTHORITY": f"{folder}/auth"}
        self._folder, self._dead = folder, False

    @classmethod
    async def opened(cls, workspace: Workspace, config: Config) -> "OwnScreen":
        """Start one. Raises ToolError."""
        if Feature.BACKGROUND not in workspace.features:
            raise ToolError("This backend keeps nothing running, so there can be no screen in it.", retry=False)
        argv = ("sh", "-c", _KEEP, "sh", f"{config.width}x{config.height}")
        process = await workspace.start(ExecRequest(argv=argv, stdin=f"{_cookie(os.urandom(16))}\n".encode()))
        try:
            number, folder = await _up(process)
        except BaseException:
            await process.kill()
            raise
        return cls(workspace, process, number, folder)

    @property
    def alive(self) -> bool:
        """Whether it is there."""
        return not self._dead

    async def close(self) -> None:
        """End it and what shows on it."""
        self._dead = True
        await self._process.kill()
        # A killed shell clears nothing away, and the pixels may hold what nobody else should see.
        if self._folder.rpartition("/")[2].startswith("hermes-display-"):
            await self._workspace.run(ExecRequest(argv=("rm", "-rf", "--", self._folder), seconds=3.0))

    async def _here(self, argv: Sequence[str], stdin: bytes) -> bytes:
        request = ExecRequest(argv=argv, stdin=stdin, env=self.environment, seconds=_ONE, limit=_MOST)
        result = await self._workspace.run(request)
        if result.status == 0:
            return result.output
        if await self._process.poll() is not None:
            self._dead = True
            raise ToolError("The screen has ended.", hint="The next call opens another, without what was on it.")
        said = line(result.output.decode(errors="replace"), 200)
        raise ToolError(f"{argv[0]} failed: {said or f'status {result.status}'}")

    async def _read(self) -> bytes:
        return await self._here(("cat", f"{self._folder}/Xvfb_screen0"), b"")


async def _up(process: "Process") -> tuple[str, str]:
    said = b""
    try:
        async with asyncio.timeout(_UP):
            while b"\n" not in said:
                over = await process.poll() is not None
                said += await process.read()
                if over:
                    break
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise ToolError(f"No screen came up within {_UP:g} seconds.") from None
    words = said.decode(errors="replace").split(maxsplit=2)
    if len(words) == 3 and words[0] == "display" and words[1].isdigit():
        return words[1], words[2].strip()
    why = line(said.decode(errors="replace").removeprefix("failed "), 200)
    raise ToolError(f"No screen could be opened here: {why or 'it says not why'}.", hint=INSTALL, retry=False)


def _cookie(secret: bytes) -> str:
    """A file of the X authority for every display, as octal escapes for printf."""
    name = b"MIT-MAGIC-COOKIE-1"
    fields = b"".join(len(field).to_bytes(2, "big") + field for field in (b"", b"", name, secret))
    return "".join(f"\\{byte:03o}" for byte in b"\xff\xff" + fields)
