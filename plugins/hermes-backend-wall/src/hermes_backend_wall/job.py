"""One command in a sandbox, seen from outside: its pipes, its output, its end."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hermes_backend_kit.endings import GRACE, KILLED
from hermes_backend_kit.pipes import Pipes
from hermes_backend_wall.sandbox import Sandbox
from hermes_backend_wall.trace import DESCRIPTOR
from hermes_core.environment import MARK
from hermes_core.errors import ToolError


class Job:
    """A running command. ``finished`` gives its exit status once its output is complete too; ``gone``: its tree."""

    def __init__(self, sandbox: Sandbox, sink: Callable[[bytes], None]) -> None:
        self._sandbox = sandbox
        self._number = 0
        self._mark = ""
        self._pipes = Pipes(sink)
        self.finished = self._pipes.finished
        self.gone = asyncio.Event()

    async def start(self, request: Mapping[str, Any], stdin: bytes | None, trace: int = -1) -> None:
        """Start it. ``stdin`` None: more may come through ``write``. Raises ToolError."""
        self._mark = request["env"].get(MARK, "")
        words = (
            (*request["argv"], request["cwd"], *request["env"], *request["env"].values()) if "argv" in request else ()
        )
        if "\0" in "".join(words):
            raise ToolError("there is a NUL character in it.")
        inner = self._pipes.open(stdin)
        try:
            asked = {**request, "stdin": len(inner) == 2, "trace": DESCRIPTOR}
            fds = [*inner, *([trace] if trace >= 0 else [])]
            self._number = await self._sandbox.submit(self, asked, fds)
        except BaseException:
            self.close()
            raise
        finally:
            for fd in inner:
                os.close(fd)
        self._pipes.watch()

    def write(self, data: bytes) -> None:
        """Send to standard input; only when it was left open. Raises ToolError once the command closed it."""
        self._pipes.write(data)

    def exited(self, status: int) -> None:
        """The launcher says how it ended."""
        self._pipes.exited(status)

    def failed(self, why: str) -> None:
        """The launcher says that it never began."""
        self._pipes.fail(ToolError(why))
        self.gone.set()

    def lost(self) -> None:
        """The sandbox is gone, and this with it."""
        self.gone.set()
        if self._pipes.status is None:
            self._pipes.fail(
                ToolError(
                    "The sandbox ended while the command ran.",
                    hint="It may have used up its memory or its processes. The next command gets a new sandbox; "
                    "what was in /tmp is gone.",
                )
            )
            self._pipes.exited(KILLED)

    async def end(self, grace: float = GRACE) -> None:
        """End the command and all it started: politely, and after ``grace`` seconds for good. Leaves nothing behind."""
        try:
            await self._sandbox.end(self._number, grace, self._mark)
            if self._sandbox.alive:
                # Beyond this the launcher has killed everything inside; if even that is not told, it goes itself.
                async with asyncio.timeout(grace + 5.0):
                    await self.gone.wait()
        except TimeoutError:
            await self._sandbox.close()
        finally:
            self.close()
            self._pipes.exited(KILLED if self._pipes.status is None else self._pipes.status)

    def close(self) -> None:
        """Let go of the pipes; the command itself is left alone."""
        self._pipes.close()

    def forget(self) -> None:
        """Let go of everything."""
        self.close()
        self._sandbox.forget(self._number)


def asked(argv: Sequence[str], cwd: str, env: Mapping[str, str], otherwise: str = "") -> dict[str, Any]:
    """A command as the launcher takes it; it begins in ``otherwise`` where ``cwd`` is gone."""
    return {"kind": "exec", "argv": list(argv), "cwd": cwd, "else": otherwise, "env": {**env, "PWD": cwd}}
