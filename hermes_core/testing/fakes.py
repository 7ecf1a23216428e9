"""A workspace, a message service and a platform for tests: real enough to rely on, and nothing leaves the process."""

import asyncio
import os
import signal
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from attrs import evolve

from hermes_core.errors import ToolError, UserError
from hermes_core.kinds import Backend, Console, Platform, Workspace
from hermes_core.testing.witness import off_the_record
from hermes_core.types import (
    Blob,
    Chat,
    Envelope,
    Event,
    ExecRequest,
    ExecResult,
    Feature,
    Folder,
    Message,
    Question,
    Sent,
    Started,
    Text,
    Verdict,
)

__all__ = ["FakeBackend", "FakePeople", "FakePlatform", "FakeService", "FakeWorkspace"]

_ExecAnswer = ExecResult | BaseException | Callable[[ExecRequest], ExecResult]


class FakeWorkspace(Workspace):
    """Files and commands for a tool under test. Keeps every command in ``requests`` and written paths in ``written``.

    With ``folder`` files are real and commands run there. Without, files are a mapping in memory, and commands give
    the scripted ``answers`` one after the other; a command that no answer was written for is a ToolError.
    """

    def __init__(
        self,
        files: Mapping[str, bytes] | None = None,
        *,
        answers: Iterable[_ExecAnswer] = (),
        folder: Path | None = None,
    ) -> None:
        self.folder = folder
        self.cwd = str(folder) if folder else "/work"
        self.features = frozenset({Feature.LOCAL}) if folder else frozenset()
        self.files: dict[str, bytes] = {self._key(p): d for p, d in (files or {}).items()}
        self.requests: list[ExecRequest] = []
        self.written: list[str] = []
        self.closed = False
        self._answers = list(answers)

    async def run(self, request: ExecRequest) -> ExecResult:
        """Run it for real in the folder, or give the next scripted answer."""
        self.requests.append(request)
        if self.folder:
            with off_the_record():
                return await _run_here(request, self.folder)
        if not self._answers:
            raise ToolError(f"No answer is scripted for the command {list(request.argv)}.")
        answer = self._answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        result = answer(request) if callable(answer) else answer
        if request.on_output and result.output:
            request.on_output(result.output)
        return result

    async def read(self, path: str) -> bytes:
        """The bytes of a file. Raises ToolError when there is none."""
        try:
            with off_the_record():
                return (self.folder / path).read_bytes() if self.folder else self.files[self._key(path)]
        except (OSError, KeyError):
            raise ToolError(f"Cannot read {path}: there is no such file.") from None

    async def write(self, path: str, data: bytes) -> None:
        """Replace a file and make its folders. Raises ToolError."""
        self.written.append(self._key(path))
        if not self.folder:
            self.files[self._key(path)] = data
            return
        target = self.folder / path
        try:
            with off_the_record():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
        except OSError as error:
            raise ToolError(f"Cannot write {path}: {error.strerror}.") from error

    async def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True

    def _key(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.cwd, path))  # noqa: PTH118 - paths of a place, not of this machine


async def _run_here(request: ExecRequest, folder: Path) -> ExecResult:
    pipe = asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(
            *request.argv,
            stdin=pipe,
            stdout=pipe,
            stderr=asyncio.subprocess.STDOUT,
            cwd=folder / request.cwd,
            env=request.environment,
            start_new_session=True,
        )
    except OSError as error:
        raise ToolError(f"Cannot run {request.argv[0]}: {error.strerror}.") from error
    try:
        async with asyncio.timeout(request.seconds):
            output, _ = await process.communicate(request.stdin)
    except TimeoutError:
        return ExecResult(status=124, output=b"")
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    if request.on_output and output:
        request.on_output(output)
    status = process.returncode or 0
    half = request.limit // 2
    kept = output if len(output) <= request.limit else output[:half] + output[-half:]
    return ExecResult(status=128 - status if status < 0 else status, output=kept, truncated=len(kept) < len(output))


class FakeBackend(Backend):
    """Opens one and the same workspace, whatever the key; ``keys`` says which were asked for."""

    def __init__(self, workspace: Workspace, *, name: str = "fake") -> None:
        self.name = name
        self.workspace = workspace
        self.keys: list[str] = []

    @property
    def features(self) -> frozenset[Feature]:  # type: ignore[override]
        """Those of the workspace."""
        return self.workspace.features

    async def open(self, key: str, also: Sequence[Folder] = ()) -> Workspace:
        """The workspace it was made with."""
        self.keys.append(key)
        self.workspace.also = tuple(also)
        return self.workspace


class FakeService(ABC):
    """The far end of a platform, for its contract test: what people on the service write and see."""

    @abstractmethod
    async def say(self, text: str, *, sender: str = "someone") -> None:
        """A person writes to the bot."""

    @abstractmethod
    async def seen(self) -> Sequence[str]:
        """The texts that people have got from the bot and see now, oldest first; edits applied."""

    async def say_as_bot(self, text: str) -> None:
        """The service hands the bot's own message back to it, as many services do; by default it does not."""

    async def typing(self) -> int:
        """How often people saw that the bot is typing; for Feature.TYPING."""
        return 0

    async def media(self) -> Sequence[bytes]:
        """The files that people have got from the bot; for Feature.MEDIA."""
        return ()

    async def polls(self) -> Sequence[tuple[str, Sequence[str]]]:
        """The polls that people have got from the bot, each with its choices as a tuple; for Feature.POLLS."""
        return ()

    async def places(self) -> Sequence[tuple[float, float]]:
        """The latitude and longitude of places that people have got from the bot; for Feature.LOCATIONS."""
        return ()

    async def gather(self) -> str:
        """People make a group, put the bot into it and say something there: its chat; for Feature.LEAVE."""
        raise NotImplementedError("give a `gather`: it makes the group that the bot is to leave")

    async def inside(self, chat: str) -> bool:
        """Whether the bot is in a group; for Feature.LEAVE."""
        raise NotImplementedError("give an `inside`: it says whether the bot is in a group")

    async def put_out(self, chat: str) -> None:
        """Somebody puts the bot out of a group; for Feature.LEAVE."""
        raise NotImplementedError("give a `put_out`: somebody puts the bot out of a group")

    async def press_first(self) -> None:
        """Somebody presses the first button below the last message of the bot; for Feature.BUTTONS."""
        raise NotImplementedError("give a `press_first`: somebody presses a button")

    async def drop(self) -> bool:
        """Cut the connection, the service staying up; False: not tested."""
        return False


class FakePeople(FakeService):
    """Who writes on a FakePlatform, and sees what it sent: its far end, in the same process."""

    def __init__(self, platform: "FakePlatform") -> None:
        self.platform = platform
        self.said: asyncio.Queue[Envelope | None] = asyncio.Queue()

    async def say(self, text: str, *, sender: str = "someone", event_id: str = "") -> None:
        """A person writes; the same ``event_id`` twice is one message delivered twice."""
        message = Message(role="user", parts=(Text(text=text),))
        name, identity = self.platform.name, event_id or uuid4().hex
        self.bring(
            Envelope(platform=name, account="bot", event_id=identity, chat=sender, sender=sender, message=message)
        )

    def bring(self, envelope: Envelope) -> None:
        """A message of any kind comes in."""
        self.said.put_nowait(envelope)

    async def leave(self) -> None:
        """Nobody writes any more: receive ends."""
        self.said.put_nowait(None)

    async def seen(self) -> Sequence[str]:
        """The texts in the outbox."""
        sent = self.platform.outbox.values()
        return ["".join(p.text for p in m.parts if isinstance(p, Text)) for m in sent]

    async def typing(self) -> int:
        """How many turns were shown to start."""
        return sum(isinstance(e, Started) for e in self.platform.events)

    async def media(self) -> Sequence[bytes]:
        """The files in the outbox."""
        sent = self.platform.outbox.values()
        return [p.data for m in sent for p in m.parts if isinstance(p, Blob) and p.data is not None]


class FakePlatform(Platform):
    """A platform without a network: ``service`` is its far end, ``outbox`` holds what was sent there.

    ``failures`` are raised by the next sends, one each. ``verdicts`` answer questions; without one nobody answers.
    """

    def __init__(
        self,
        *,
        name: str = "fake",
        features: Iterable[Feature] = (Feature.EDIT, Feature.DELETE, Feature.TYPING, Feature.MEDIA, Feature.LIVE),
        limit: int = 0,
        failures: Iterable[BaseException] = (),
        verdicts: Iterable[Verdict] = (),
    ) -> None:
        self.name = name
        self.features = frozenset(features)
        self.limit = limit
        self.failures = list(failures)
        self.verdicts = list(verdicts)
        self.outbox: dict[str, Message] = {}
        self.keys: list[str] = []
        self.events: list[Event] = []
        self.questions: list[Question] = []
        self.acked: list[str] = []
        self.console: Console | None = None
        self.service = FakePeople(self)

    async def open(self, console: Console) -> None:
        """Keep the console."""
        self.console = console

    async def receive(self) -> AsyncIterator[Envelope]:
        """What was said, until the person leaves or the platform is closed."""
        while envelope := await self.service.said.get():
            yield envelope

    async def ack(self, envelope: Envelope) -> None:
        """Note the event id."""
        self.acked.append(envelope.event_id)

    async def send(self, chat: Chat, message: Message, key: str) -> Sent:
        """Put it into the outbox, or fail as scripted; a key that was used sends nothing new. Raises UserError."""
        if self.failures:
            raise self.failures.pop(0)
        length = sum(len(p.text) for p in message.parts if isinstance(p, Text))
        if self.limit and length > self.limit:
            raise UserError(f"A message of {length} characters is too long for {self.name}; {self.limit} is the most.")
        self.keys.append(key)
        self.outbox.setdefault(key, message)
        return Sent(chat=chat.id, message_id=key)

    async def edit(self, sent: Sent, message: Message) -> None:
        """Replace a message in the outbox. Raises UserError without Feature.EDIT."""
        if Feature.EDIT not in self.features:
            return await super().edit(sent, message)
        self.outbox[sent.message_id] = evolve(self.outbox[sent.message_id], parts=message.parts)
        return None

    async def delete(self, sent: Sent) -> None:
        """Take a message out of the outbox. Raises UserError without Feature.DELETE."""
        if Feature.DELETE not in self.features:
            return await super().delete(sent)
        self.outbox.pop(sent.message_id, None)
        return None

    async def show(self, chat: Chat, event: Event) -> None:
        """Note the event."""
        self.events.append(event)

    async def ask(self, chat: Chat, question: Question) -> Verdict | None:
        """Note the question and give the next verdict."""
        self.questions.append(question)
        return self.verdicts.pop(0) if self.verdicts else None

    async def close(self) -> None:
        """End receive."""
        await self.service.leave()
