"""A turn that goes on without its client: its events are kept, for whoever reads them."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TypeAlias

from hermes_core.errors import HermesError
from hermes_core.types import Ended, Event, Progress, Question, Started, ToolCall, Usage, Verdict
from hermes_core.values import frozen
from hermes_platform_api.errors import ApiError, of_error

__all__ = ["Events", "Handed", "Kept", "Told"]

_LEFT = "This server is going down. The turn goes on when it starts again."
_MOST = 2000  # events of live output that are kept of one turn


@frozen(kw_only=True)
class Handed:
    """Calls of a client's own tools, which it is to run: the turn waits. ``usage`` is that since it last waited."""

    session_id: str
    calls: Sequence[ToolCall]
    usage: Usage


Told: TypeAlias = Event | Handed
Events: TypeAlias = AsyncGenerator[Told, None]


class Kept:
    """A turn that goes on without its client, and whose events can be read by any number of them, from the start."""

    started: Started

    def __init__(self, person: str) -> None:
        self.person = person
        self.events: list[Told] = []
        self.session = self._turn = ""
        self.asking: dict[str, tuple[Question, asyncio.Future[Verdict]]] = {}
        self.stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.task: asyncio.Task[None] | None = None
        self.failure: ApiError | None = None
        self.goes_on = False  # elsewhere: to be stopped here is no end of it
        self._news = asyncio.Event()

    @property
    def over(self) -> bool:
        """Whether there is nothing more to come."""
        return self.task is not None and self.task.done()

    def begin(self, events: Events, done: Callable[[], None]) -> None:
        """Play it."""
        self.task = asyncio.create_task(self._play(events))

        def end(_: object) -> None:
            if not self.stored.done():
                self.stored.set_result(None)
            self.tell()
            done()

        self.task.add_done_callback(end)

    async def _play(self, events: Events) -> None:
        try:
            async with contextlib.aclosing(events) as turn:
                async for event in turn:
                    self.add(event)
        except asyncio.CancelledError:
            if self.goes_on:
                self.failure = ApiError(503, "going_down", _LEFT, headers={"retry-after": "5"})
                raise
            ids = {"session_id": self.session, "turn_id": self._turn}
            self.add(Ended(**ids, answer="", reason="interrupted", usage=Usage()))
            raise
        except ApiError as error:
            self.failure = error
        except HermesError as error:
            self.failure = of_error(error)

    def add(self, event: Told) -> None:
        """Keep an event and wake who reads."""
        if isinstance(event, Started):
            self.started, self.session, self._turn = event, event.session_id, event.turn_id
        if not isinstance(event, Progress) or len(self.events) < _MOST:
            self.events.append(event)
            self.tell()

    def tell(self) -> None:
        """Wake who reads."""
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def ask(self, question: Question) -> Verdict | None:
        """Put a question to whoever reads the events; answered by ``answer``, or elsewhere."""
        answer: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        self.asking[question.id] = (question, answer)
        self.tell()
        try:
            return await answer
        finally:
            del self.asking[question.id]
            self.tell()

    async def read(self, at: int = 0) -> AsyncGenerator[Told | Question, None]:
        """Its events from one until its end, and the questions that wait meanwhile. Raises ApiError."""
        told = set[str]()
        while True:
            news = self._news
            while at < len(self.events):
                at += 1
                yield self.events[at - 1]
            for question, _ in list(self.asking.values()):
                if question.id not in told:
                    told.add(question.id)
                    yield question
            if self.over and at == len(self.events):
                break
            if news is self._news:
                await news.wait()
        if self.failure:
            raise self.failure

    async def stop(self) -> None:
        """Interrupt it; its Ended still comes."""
        if self.task and not self.task.done():
            self.task.cancel()
            await asyncio.wait({self.task})
