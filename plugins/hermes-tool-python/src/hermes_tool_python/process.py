"""An interpreter in the place where commands run, seen from Hermes: its two pipes, its calls of tools, its end."""

import asyncio
import base64
import binascii
import contextlib
import json
import signal
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from hermes_core.environment import MARK
from hermes_core.errors import ToolError
from hermes_core.kinds import Process, Workspace
from hermes_core.types import Blob, ExecRequest, Feature
from hermes_tool_python.config import Config
from hermes_tool_python.lines import Lines, Unreadable
from hermes_tool_python.script import NAME, Ended, Interpreter, Make, Printed, Script

__all__ = ["Python"]

_START = 30.0  # seconds until it answers
_GRACE = 2.0  # seconds that a script has to end by itself when its time is over
_LOOK = 0.25  # seconds between looks at whether it still runs
_IMAGES, _IMAGE = 8, 4_000_000  # images of one script, bytes of one
_KINDS = ("image/png", "image/jpeg", "image/gif", "image/webp")
_LONG = 1e9
# The Python of the working folder, that of the place, that of Hermes: the first there is. What a version manager puts
# before it is a script, which may start one that nobody may see from there: it is tried.
_FIND = (
    'run=$1 job=$2 why=; shift 2; for python do found=$(command -v "$python" 2>/dev/null) || continue; '
    'case $(head -c 2 "$found" 2>/dev/null) in "#!") why=$("$python" -I -c "" 2>&1) || continue;; esac; '
    'exec "$python" -I -c "$run" "$job"; done; echo "${why:-there is no Python}"; exit 127'
)
_PYTHONS = (".venv/bin/python3", "venv/bin/python3", "python3", "python", "/usr/bin/python3")


@cache
def _inside(name: str) -> str:
    return Path(__file__).with_name("inside").joinpath(f"{name}.py").read_text(encoding="utf-8")


def _filter(workspace: Workspace) -> str:
    """The filter of system calls that closes the network, where this machine's own wall leaves a way out."""
    if Feature.WALLED not in workspace.features:
        return ""
    from hermes_backend_wall.seccomp import offline

    return base64.b64encode(offline()).decode()


class _Clock:
    """Calls something once when its time is over. It stands still while a script waits for its calls of tools.

    The timer stays where it is meanwhile, and finds out when it rings: a new one for each call would cost too much.
    """

    def __init__(self, seconds: float, ring: Callable[[], None]) -> None:
        self._loop, self._ring = asyncio.get_running_loop(), ring
        self._left, self._since = seconds, 0.0
        self._timer: asyncio.TimerHandle | None = None
        self.go_on()

    def go_on(self) -> None:
        """Let it run."""
        self._since = self._loop.time()
        if self._timer is None:
            self._timer = self._loop.call_later(self._left, self._look)

    def stop(self) -> None:
        """Let it stand still."""
        if self._since:
            self._left, self._since = self._left - (self._loop.time() - self._since), 0.0

    def end(self) -> None:
        """Have done with it."""
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        self._timer = None
        if not self._since:
            return  # ``go_on`` sets the next one
        left = self._left - (self._loop.time() - self._since)
        if left > 0:
            self._timer = self._loop.call_later(left, self._look)
        else:
            self._ring()


class Python(Interpreter):
    """One interpreter. It runs one script at a time, and is of no use any more when one ended it."""

    def __init__(self, workspace: Workspace, config: Config) -> None:
        self._workspace, self._config = workspace, config
        self._lines, self._inbox = Lines(), deque[tuple[str, Mapping[str, Any]]]()
        self._awaited: asyncio.Future[None] | None = None
        self._process: Process | None = None
        self._looking: asyncio.Task[None] | None = None
        self._shut = False

    async def start(self) -> None:
        """Start it. Raises ToolError where the place has no Python or nothing runs in the background there."""
        if Feature.BACKGROUND not in self._workspace.features:
            raise ToolError(
                "Scripts need a place where something can run beside Hermes, and this one has none.",
                hint="Use the tools one by one, or a backend such as local, bubblewrap or docker.",
                retry=False,
            )
        job = {
            "interpreter": _inside("interpreter"), "memory": self._config.memory_mb * 1_000_000,
            "output": self._config.output_kb * 1_000, "seal": _filter(self._workspace),
        }  # fmt: skip
        mine = [sys.executable] if Feature.LOCAL in self._workspace.features and sys.executable else []
        request = ExecRequest(
            argv=("sh", "-c", _FIND, "sh", _inside("keeper"), json.dumps(job), *_PYTHONS, *mine),
            seconds=_LONG, limit=1_000, on_output=self._heard,
        )  # fmt: skip
        self.mark = request.env[MARK]
        self._process = await self._workspace.start(request)
        self.alive = True
        self._looking = asyncio.ensure_future(self._look())
        try:
            async with asyncio.timeout(_START):
                _, message = await self._next()
        except TimeoutError:
            message = {}
        except BaseException:
            await asyncio.shield(self.close())
            raise
        if "ready" not in message:
            await self.close()
            why = message.get("broken") or self._lines.noise or "it did not answer"
            raise ToolError(
                f"No Python could be started where commands run: {str(why)[-500:]}",
                hint="Scripts need Python 3.8 or newer there. Tell the person: install python3.",
            )
        self._shut = bool(message.get("sealed"))

    def _heard(self, data: bytes) -> None:
        try:
            self._inbox.extend(self._lines.feed(data))
        except Unreadable as error:
            self._inbox.append(("", {"broken": str(error)}))
        self._wake()

    def _wake(self) -> None:
        if self._awaited is not None and not self._awaited.done():
            self._awaited.set_result(None)

    async def _next(self) -> tuple[str, Mapping[str, Any]]:
        """The next message. A queue and a time-out of asyncio would cost more than all else that a call does."""
        while not self._inbox:
            self._awaited = asyncio.get_running_loop().create_future()
            await self._awaited
        return self._inbox.popleft()

    async def _look(self) -> None:
        """Notice an end that nobody tells of."""
        while self._process is not None:
            status = await self._process.poll()
            if status is not None:
                self._inbox.append(("", {"gone": status}))
                self._wake()
                return
            await asyncio.sleep(_LOOK)

    async def run(self, script: Script, make: Make, show: Callable[[str], None]) -> Ended:
        """Run a script to its end; ``make`` makes its calls of tools, ``show`` gets what it prints as it comes.

        Raises ToolError when the place fails. When it is cancelled, the interpreter is ended.
        """
        self.scripts += 1
        job = {"id": self.scripts, "code": script.code, "tools": script.tools, "seconds": script.seconds, "name": NAME}
        self._inbox = deque(one for one in self._inbox if not one[1].keys() & {"late", "live"})  # of the last one
        try:
            with contextlib.suppress(ToolError):  # it ended meanwhile: that comes in
                await self._tell(job)
            ended = await self._until_end(script, make, show)
        except BaseException:
            await asyncio.shield(self.close())
            raise
        if ended.trouble:
            await self.close()
        ended.outside = Feature.WALLED in self._workspace.features and not self._shut
        return ended

    async def _until_end(self, script: Script, make: Make, show: Callable[[str], None]) -> Ended:
        images = list[Blob]()
        clock = _Clock(script.seconds + _GRACE, self._late)
        try:
            while True:
                who, message = await self._next()
                if "live" in message:
                    show(str(message["live"]))
                elif "calls" in message and who == "p":
                    try:
                        clock.stop()
                        results = await make(list(message["calls"]))
                        clock.go_on()
                        await self._tell({"results": results})
                    except TypeError:
                        return Ended(trouble=_FOREIGN, images=images)
                    except ToolError:
                        continue  # it has ended meanwhile: that comes in, too
                elif "image" in message:
                    if blob := _image(message, len(images)):
                        images.append(blob)
                elif message.get("id") == self.scripts or "died" in message:
                    return _ended(script, message, images)
                elif "late" in message:
                    return Ended(trouble=_late(script), images=images)
                elif "gone" in message or "broken" in message:
                    said = f": {self._lines.noise[-300:]}" if self._lines.noise else ""
                    why = _FOREIGN if "broken" in message else f"its process was ended from outside{said}"
                    return Ended(trouble=why, images=images)
        finally:
            clock.end()

    def _late(self) -> None:
        self._inbox.append(("", {"late": True}))
        self._wake()

    async def _tell(self, message: Mapping[str, Any]) -> None:
        if self._process is None:
            raise ToolError("The interpreter has ended.")
        await self._process.write(json.dumps(message).encode() + b"\n")

    async def close(self) -> str:
        """End it and everything it started; what its place says of that."""
        self.alive, process, self._process = False, self._process, None
        if self._looking:
            self._looking.cancel()
        if process is None:
            return ""
        await process.kill()
        with contextlib.suppress(ToolError):
            await process.read()
        return self._lines.noise


_FOREIGN = "it wrote into the pipes by which it speaks with Hermes, and was ended"


def _late(script: Script) -> str:
    return f"it did not end within {script.seconds:g} s and was ended with all it had started"


def _ended(script: Script, message: Mapping[str, Any], images: Sequence[Blob]) -> Ended:
    printed = Printed(
        head=str(message.get("head", "")), tail=str(message.get("tail", "")), left=int(message.get("left", 0))
    )
    if "died" in message:
        return Ended(printed=printed, images=images, trouble=_died(*message["died"]))
    end = message["end"] if isinstance(message.get("end"), dict) else {}
    error = f"it did not end within {script.seconds:g} s and was stopped" if end.get("late") else end.get("error", "")
    return Ended(printed=printed, images=images, value=str(end.get("value", "")), error=str(error))


def _died(how: str, number: int) -> str:
    if how == "signal":
        name = signal.Signals(number).name if number in signal.valid_signals() else str(number)
        more = {"SIGKILL": "; perhaps it used up its memory", "SIGSEGV": "; perhaps it went too deep into itself"}
        return f"its process was ended by {name}{more.get(name, '')}"
    if how == "processes":
        return f"it started more than {number} processes, and was ended with all of them"
    if number == 70:
        return "it closed the pipes by which it speaks with Hermes, and was ended"
    return f"its process ended itself with status {number}"


def _image(message: Mapping[str, Any], known: int) -> Blob | None:
    kind = message.get("kind")
    if kind not in _KINDS or known >= _IMAGES:
        return None
    try:
        data = base64.b64decode(str(message["image"]), validate=True)
    except (binascii.Error, ValueError):
        return None
    ending = str(kind).removeprefix("image/")
    return Blob(media_type=str(kind), data=data, name=f"shown-{known + 1}.{ending}") if len(data) <= _IMAGE else None
