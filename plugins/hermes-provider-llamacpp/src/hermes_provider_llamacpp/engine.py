"""A model that is held by a process beside this one: begun when it is first asked, let go of when nobody asks."""

import asyncio
import contextlib
import json
import os
import sys
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from itertools import count
from typing import Any

from attrs import asdict

from hermes_core.environment import without_secrets
from hermes_core.errors import Refused, Unavailable
from hermes_core.types import JSON
from hermes_core.values import frozen

__all__ = ["COMMAND", "Engine", "Model"]

COMMAND = (sys.executable, "-I", "-m", "hermes_provider_llamacpp.child")
_LINE = 32 * 1024 * 1024  # bytes
_GRACE = 1.5  # seconds in which a question that was taken back has to end
# Nothing of the person's: where programs and libraries are, and what the library itself reads.
_KNOWN = ("PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")
_OF_THE_LIBRARY = ("GGML_", "LLAMA_", "CUDA_", "HIP_", "ROCR_", "OMP_")


@frozen(kw_only=True)
class Model:
    """What is opened: a file, with room for so many tokens."""

    path: str
    room: int
    threads: int = 0
    gpu_layers: int = -1


class _Process:
    """One process with one model. ``told`` has the queue of each question that is under way."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.told: dict[int, asyncio.Queue[dict[str, Any]]] = {}
        self.taken_back: dict[int, tuple[asyncio.TimerHandle, asyncio.Event]] = {}
        self.ended = False  # nothing comes from it any more
        self.errors: deque[str] = deque(maxlen=4)
        self.tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._hear())]
        self.ready: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

    def say(self, what: JSON) -> None:
        """Write one order; who does not read any more is dead, which is found out elsewhere."""
        assert self.process.stdin
        with contextlib.suppress(OSError, RuntimeError):
            self.process.stdin.write(json.dumps(what).encode("utf-8", "replace") + b"\n")

    def take_back(self, number: int) -> None:
        """End a question; where that takes long, as while a prompt is read, the process goes with it."""
        self.say({"stop": number})
        self.taken_back[number] = asyncio.get_running_loop().call_later(_GRACE, self.kill), asyncio.Event()

    async def at_rest(self) -> bool:
        """Wait until what was taken back has ended; whether it can be asked."""
        for _, ended in tuple(self.taken_back.values()):
            await ended.wait()
        return self.process.returncode is None and not self.ended

    def kill(self) -> None:
        """End it at once."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()

    async def end(self) -> None:
        """End it, and wait until it is gone."""
        for handle, _ in self.taken_back.values():
            handle.cancel()
        self.kill()
        await self.process.wait()
        for task in self.tasks:
            task.cancel()
        await asyncio.wait(self.tasks)

    async def _read(self) -> None:
        assert self.process.stdout
        with contextlib.suppress(ValueError, OSError):  # a line without an end: it is of no use any more
            while line := await self.process.stdout.readline():
                said = json.loads(line)
                if "id" not in said:
                    self._settle(said)
                    continue
                if "end" in said and (known := self.taken_back.pop(said["id"], None)):
                    known[0].cancel()
                    known[1].set()
                if queue := self.told.get(said["id"]):
                    queue.put_nowait(said)
        self.kill()
        self.ended, died = True, {"died": True}
        for _, ended in self.taken_back.values():
            ended.set()
        self._settle(died)
        for queue in self.told.values():
            queue.put_nowait(died)

    def _settle(self, said: dict[str, Any]) -> None:
        if not self.ready.done():
            self.ready.set_result(said)

    async def _hear(self) -> None:
        assert self.process.stderr
        with contextlib.suppress(ValueError, OSError):
            while line := await self.process.stderr.readline():
                self.errors.append(_plain(line.decode("utf-8", "replace").strip()[-300:]))

    @property
    def words(self) -> str:
        """What it told last of what went wrong."""
        return " ".join(filter(None, self.errors))[-600:]


class Engine:
    """Holds one model at a time, in a process that is begun by ``command``. Another one takes its place."""

    def __init__(self, *, idle: float, command: Sequence[str] = COMMAND) -> None:
        self._idle, self._command = idle, command
        self._model: Model | None = None
        self._running: _Process | None = None
        self._lock: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None
        self._numbers = count(1)
        self._timer: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()

    @property
    def process_id(self) -> int:
        """The process that holds a model now; 0 where none does."""
        return self._running.process.pid if self._running else 0

    @property
    def model(self) -> Model | None:
        """The model that a living process holds now; None where none does."""
        return self._model if self._running and not self._running.ended else None

    async def ask(self, model: Model, body: JSON) -> AsyncGenerator[JSON, None]:
        """Give the events of an answer, in the form of the chat-completions protocol.

        Raises:
            Refused: The library refuses the question.
            Unavailable: The model cannot be loaded, or its process died.
        """
        async with self._one_at_a_time():
            running = await self._opened(model)
            number, queue = next(self._numbers), asyncio.Queue[dict[str, Any]]()
            running.told[number] = queue
            ended = False
            try:
                running.say({"id": number, "body": body})
                while not ended:
                    said = await queue.get()
                    if "chunk" in said:
                        yield said["chunk"]
                        continue
                    ended = True
                    if "died" in said:
                        raise Unavailable(f"The process of the model died. {running.words}".strip())
                    if "failed" in said:
                        text = f"llama.cpp does not take this request: {_plain(said['failed'])}"
                        raise Refused(text, reason="format_error")
            finally:
                running.told.pop(number, None)
                if not ended:
                    running.take_back(number)
                self._rest()

    async def close(self) -> None:
        """Let go of the model, and wait until its process is gone."""
        if self._timer:
            self._timer.cancel()
        self._let_go(anyway=True)
        if self._ending:
            await asyncio.wait(self._ending)

    def _one_at_a_time(self) -> asyncio.Lock:
        loop = asyncio.get_running_loop()
        if self._lock is None or self._lock[0] is not loop:
            self._lock = loop, asyncio.Lock()
        return self._lock[1]

    def _rest(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(self._idle, self._let_go)

    def _let_go(self, *, anyway: bool = False) -> None:
        """Have the process ended; nobody is given it from now on. One that is asked just now stays."""
        if not self._running or (self._running.told and not anyway):
            return
        task = asyncio.create_task(self._running.end())
        self._running, self._model = None, None
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _opened(self, model: Model) -> _Process:
        if self._timer:
            self._timer.cancel()
        if self._running and self._model == model and await self._running.at_rest():
            return self._running
        if self._running:
            await self._running.end()
            self._running = None
        there = without_secrets(os.environ).items()  # LLAMA_API_KEY is not of the library
        environment = {name: value for name, value in there if name in _KNOWN or name.startswith(_OF_THE_LIBRARY)}
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *self._command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, limit=_LINE, start_new_session=True
        )
        running = _Process(process)
        try:
            running.say(asdict(model))
            said = await running.ready
            if "ready" not in said:
                raise _not_loaded(model, said, running)
        except BaseException:
            await running.end()
            raise
        self._running, self._model = running, model
        return running


def _plain(text: str) -> str:
    """Return words of the library, which quotes the file, without what drives a terminal."""
    return "".join(sign for sign in text if sign.isprintable())


def _not_loaded(model: Model, said: dict[str, Any], running: _Process) -> Unavailable:
    why = _plain(str(said.get("failed") or "its process died"))
    if "xllamacpp" in why:
        hint = "pip install 'hermes-provider-llamacpp[engine]'"
        return Unavailable("llama.cpp is not installed here.", transient=False, hint=hint)
    hint = "Is it whole, and is there memory for it? `hermes gguf list` says how much it needs."
    return Unavailable(
        f"{_plain(model.path)} cannot be loaded: {why} {running.words}".strip(), transient=False, hint=hint
    )
