"""The small Python: pydantic-monty, which starts in milliseconds and knows neither files, packages nor the network.

Its interpreter is a program of its own. It runs in a wall where nothing is but itself and the libraries of the system,
without a network, and it dies with Hermes. Where bubblewrap is not there to make that wall, the whole Python is used.
"""

import asyncio
import contextlib
import os
import shlex
import signal
import threading
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from hermes_core.environment import MARK
from hermes_core.errors import ToolError
from hermes_core.types import ExecRequest
from hermes_tool_python.choice import program, why_not
from hermes_tool_python.config import Config
from hermes_tool_python.script import NAME, Ended, Interpreter, Make, Script
from hermes_tool_python.smalltools import Printing, Tools, told, words

__all__ = ["Fast"]

_GRACE = 2.0  # seconds beyond its own limit until it is killed
_MANY = 1_000_000  # calls out; ours are counted elsewhere
_DEEP = 900  # calls below one another
_OLD = 86_400.0  # seconds after which the wall of one that was killed is forgotten
_ROOM = 4_096  # megabytes of addresses beside what a script may fill
_WRAP = """#!/bin/sh
# The wall of the small Python. Written anew by Hermes whenever it is started.
ulimit -c 0; ulimit -f 0; ulimit -v {memory}
exec env -i {mark} {bwrap} --unshare-all --die-with-parent --new-session --clearenv --setenv {name} {value} \\
  --cap-drop ALL --ro-bind /usr /usr {links} --ro-bind {monty} /monty --chdir / -- /monty "$@"
"""


class Fast(Interpreter):
    """One small Python. All of it is done in one thread of its own, as the system ends it with that thread."""

    def __init__(self, data: Path, config: Config) -> None:
        self._data, self._config = data, config
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._replies: SimpleQueue[list[tuple[str, bool]] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._serve, name="small-python", daemon=True)
        self._pool: Any = None
        self._session: Any = None
        self._tools = Tools()
        self._wrapper: Path | None = None
        self._pid = 0

    def _serve(self) -> None:
        while (job := self._work.get()) is not None:
            job()

    def _begin(self, job: Callable[[], Any], done: Callable[[Any, BaseException | None], None]) -> None:
        """Do something in that thread; ``done`` is called on the loop."""
        loop = asyncio.get_running_loop()

        def work() -> None:
            value, error = None, None
            try:
                value = job()
            except BaseException as caught:  # noqa: BLE001 - it belongs to whoever waits
                error = caught
            with contextlib.suppress(RuntimeError):  # the loop may be gone
                loop.call_soon_threadsafe(done, value, error)

        self._work.put(work)

    async def start(self) -> None:
        """Start it. Raises ToolError where there is none."""
        if why := why_not():
            raise ToolError(f"The small Python cannot be used: {why}.", hint="Set tools.python.mode to auto or full.")
        self.mark = ExecRequest(argv=("monty",)).env[MARK]
        try:
            self._wrapper = self._wrap()
            self._thread.start()
            opened: asyncio.Future[BaseException | None] = asyncio.get_running_loop().create_future()
            self._begin(self._open, lambda _, error: None if opened.done() else opened.set_result(error))
            if error := await opened:
                raise error
        except asyncio.CancelledError:
            await self.close()
            raise
        except Exception as error:
            await self.close()
            raise ToolError(
                f"The small Python could not be started: {error}"[:500], hint="Set tools.python.mode to full."
            ) from error
        self.alive = True

    def _wrap(self) -> Path:
        """Write the script that puts it behind its wall."""
        from hermes_backend_wall.bwrap import program as bwrap

        links = " ".join(
            f"--symlink {os.readlink(path)} {path}" if os.path.islink(path) else f"--ro-bind {path} {path}"  # noqa: PTH114, PTH115
            for path in ("/lib", "/lib64", "/bin")
            if os.path.exists(path)  # noqa: PTH110
        )
        text = _WRAP.format(
            memory=(self._config.memory_mb + _ROOM) * 1024, mark=f"{MARK}={self.mark}", name=MARK, value=self.mark,
            bwrap=shlex.quote(bwrap()), links=links, monty=shlex.quote(os.path.realpath(program())),
        )  # fmt: skip
        folder = self._data / "walls"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for old in folder.iterdir():
            if time.time() - old.stat().st_mtime > _OLD:
                old.unlink(missing_ok=True)
        path = folder / f"{sha256(text.encode()).hexdigest()[:16]}.sh"
        path.write_text(text)
        path.chmod(0o700)
        return path

    def _open(self) -> None:
        from pydantic_monty import ExternalModule, Monty

        most = float(self._config.seconds)
        limits: Any = {
            "max_feed_duration_secs": most, "max_memory": self._config.memory_mb * 1_000_000,
            "max_recursion_depth": _DEEP, "max_suspensions": _MANY, "max_total_sleep_secs": most,
        }  # fmt: skip
        pool = Monty(binary_path=self._wrapper, min_processes=1, max_processes=1, feed_duration_limit_grace=_GRACE)
        self._pool = pool.__enter__()
        session = self._pool.checkout(
            script_name=NAME,
            limits=limits,
            external_modules={"hermes_tools": lambda: ExternalModule(self._tools.functions())},
            print_flush_interval=0.05,
        )
        self._session = session.__enter__()
        self._pid = self._session.worker_pid or 0

    async def run(self, script: Script, make: Make, show: Callable[[str], None]) -> Ended:
        """Run a script to its end; ``make`` makes its calls of tools, ``show`` gets what it prints as it comes.

        When it is cancelled, the interpreter is ended.
        """
        loop, inbox = asyncio.get_running_loop(), asyncio.Queue[Any]()
        self.scripts += 1
        called = False

        def ask(calls: Sequence[Any]) -> list[tuple[str, bool]]:
            loop.call_soon_threadsafe(inbox.put_nowait, calls)
            if (results := self._replies.get()) is None:
                raise RuntimeError("the script was stopped")
            return results

        printing = Printing(self._config.output_kb * 1_000, lambda text: _tell(loop, show, text))
        self._tools.names, self._tools.ask = script.tools, ask
        self._tools.say = lambda text: printing.take("stdout", text)
        try:
            self._begin(lambda: self._fed(script, printing), lambda ended, error: inbox.put_nowait(error or ended))
            while isinstance(came := await inbox.get(), list):
                called = True
                self._replies.put(await make(came))
            if isinstance(came, BaseException):
                raise came
        except BaseException:
            await self.close()
            raise
        ended: Ended = came
        ended.printed, ended.early = printing.printed(), ended.early and not called
        if ended.trouble:
            await self.close()
        return ended

    def _fed(self, script: Script, printing: Printing) -> Ended:
        from pydantic_monty import MontyCrashedError, MontyError

        shown = {"show": self._tools.show}
        try:
            value = self._session.feed_run(script.code, external_lookup=shown, print_callback=printing.take)
        except MontyCrashedError as error:
            late = f"it did not end within {script.seconds:g} s and was ended" if error.timed_out else ""
            return Ended(trouble=late or "its process ended; perhaps it used up its memory")
        except MontyError as error:
            said = told(error, script)
            return Ended(error=said, early=not said.startswith(("it did not end", "MemoryError")))
        return Ended(value="" if value is None else words(value)[:20_000])

    async def close(self) -> str:
        """End it; a script that runs is cut off."""
        self.alive, pid, self._pid = False, self._pid, 0
        if pid:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if self._thread.is_alive():
            self._replies.put(None)
            self._work.put(self._shut)
            self._work.put(None)
            await asyncio.shield(asyncio.to_thread(self._thread.join, 10.0))
        if self._wrapper:
            self._wrapper.unlink(missing_ok=True)
        return ""

    def _shut(self) -> None:
        for one in (self._session, self._pool):
            if one is not None:
                with contextlib.suppress(Exception):
                    one.__exit__(None, None, None)
        self._session = self._pool = None


def _tell(loop: asyncio.AbstractEventLoop, show: Callable[[str], None], text: str) -> None:
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(show, text)
