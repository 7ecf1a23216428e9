"""Sessions whose turns run on this host: all who look on see the same, and the first answer is the answer."""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from hermes_core.context import PluginContext
from hermes_core.environment import caller
from hermes_core.errors import HermesError
from hermes_core.types import (
    Called,
    Ended,
    Event,
    Failed,
    Message,
    Noticed,
    Question,
    Returned,
    Said,
    Started,
    Text,
    Verdict,
)
from hermes_platform_host.others import Others
from hermes_platform_host.strictness import tighten
from hermes_platform_kit.asking import lines_of

__all__ = ["Listener", "Room", "Rooms", "Told"]

_SHOWN = Started | Said | Called | Returned | Noticed | Failed
_ALONE = 30  # seconds in which a screen that is there has a question for itself
_APART = 1.0  # seconds between two questions where several may answer: a yes on its way was for the one before
_KEPT = (
    "Another screen is in this conversation, too, and did not choose that: what needs a yes is asked as it is set up."
    " It holds where this screen is here alone."
)
_MOST = 20_000  # events of a running turn that whoever comes later is shown

Told: TypeAlias = "Event | Mapping[str, Any] | None"
Queue = asyncio.Queue[Told]
Listener = Callable[[Told], None]


class _Next(NamedTuple):
    """A turn that is to be played: in whose environment, and who shows its events by themselves."""

    env: Mapping[str, str] | None
    turn: AsyncGenerator[Event, None]
    by: object


class Room:
    """One session. ``past`` is what its running turn showed so far, ``questions`` what is asked now.

    One that is ``passing`` holds nothing once nobody is in it, as where a program answers and ends: neither a place for
    commands nor what they left running.
    """

    def __init__(self, ctx: PluginContext, session: str) -> None:
        self._ctx, self.session, self.passing = ctx, session, False
        self.past: list[Event] = []
        self.questions: dict[str, tuple[Question, asyncio.Future[Verdict | None]]] = {}
        self._declined: dict[str, set[object]] = {}  # who cannot ask anybody, by question
        self._settled = 0.0  # when a question was answered last that others may have been answering, too
        self._listeners: dict[Listener, object] = {}
        self.task: asyncio.Task[None] | None = None  # what plays
        self.by: object = None  # who shows the events of what plays by themselves
        self.live = False  # a turn of what plays has begun, and has no end
        self.others = Others(ctx, self)
        self._next: deque[_Next] = deque()

    @property
    def playing(self) -> bool:
        """Whether a turn runs here that this host began for a terminal."""
        return self.task is not None

    @property
    def needed(self) -> bool:
        """Whether anybody is in it."""
        return self.playing or bool(self._listeners)

    @property
    def watched(self) -> bool:
        """Whether anybody looks on."""
        return bool(self._listeners)

    @property
    def unstored(self) -> Sequence[Event]:
        """What is being said, from its beginning: what the running turn did before is read in its session."""
        begun = [self.others.started] if self.others.started else []
        if self.live:
            after = max((at for at, one in enumerate(self.past) if isinstance(one, Called | Returned)), default=-1)
            begun = [one for one in self.past if isinstance(one, Started)]
            return [*begun, *(one for one in self.past[after + 1 :] if not isinstance(one, Started))]
        return begun

    def enter(self) -> Queue:
        """Be told of all that happens from now on: events, and questions as they are opened and settled."""
        queue: Queue = asyncio.Queue()
        self.listen(queue.put_nowait)
        return queue

    def leave(self, queue: Queue) -> None:
        """Be told no more. What runs goes on."""
        self.stop_listening(queue.put_nowait)

    def listen(self, told: Listener, by: object = None) -> None:
        """Be told as in ``enter``, but for the events of turns that are played ``by`` the same."""
        if not self._listeners:
            self.others.seen = None  # nobody looked meanwhile
        self._listeners[told] = by
        self.tighten()

    def stop_listening(self, told: Listener) -> None:
        """Be told no more. What runs goes on."""
        self._listeners.pop(told, None)
        self.tighten()
        if self.passing and not self.needed:
            self.play()  # which lets go of it

    def tighten(self, *, joined: bool = False) -> None:
        """Be as strict as it is set up, unless one screen is here alone, or what it asked for still plays.

        With ``joined`` another terminal comes that is no listener.
        """
        if self._tightened(joined=joined):
            words = "What needs a yes here is asked again: not only who chose otherwise is here."
            self.tell(Noticed(text=words), aloud=True)  # who plays a turn did choose it

    def kept(self) -> str:
        """Be as strict after a slash command; what is said instead of its words where it chose otherwise."""
        return _KEPT if self._tightened() else ""

    def _tightened(self, *, joined: bool = False) -> bool:
        alone = not joined and (len(self._listeners) == 1 or (self.playing and not self._listeners))
        return not alone and tighten(self._ctx, self.session)

    def play(self, *turns: AsyncGenerator[Event, None], by: object = None) -> None:
        """Play turns to their end, one after another and after what plays, whoever looks on or leaves.

        Each has the environment of whoever asks for it here.
        """
        self._next.extend(_Next(caller.get(), turn, by) for turn in turns)
        if not self.task:
            self.task = asyncio.create_task(self._play())

    async def shown(self, turn: AsyncGenerator[Event, None], by: object = None) -> AsyncGenerator[Event, None]:
        """Play a turn, and yield what it says as long as somebody wants to hear it. Raises what it raises."""
        queue: asyncio.Queue[Event | HermesError | None] = asyncio.Queue()

        async def heard() -> AsyncGenerator[Event, None]:
            try:
                async with contextlib.aclosing(turn) as events:
                    async for event in events:
                        queue.put_nowait(event)
                        yield event
            except HermesError as error:
                queue.put_nowait(error)
                raise
            finally:
                queue.put_nowait(None)

        self.play(heard(), by=by)
        while (one := await queue.get()) is not None:
            if isinstance(one, HermesError):
                raise one
            yield one

    async def rest_of(self) -> AsyncGenerator[Event, None]:
        """Yield what is said from now on until nothing plays."""
        queue = self.enter()
        try:
            while self.task and (one := await queue.get()) is not None:
                if not isinstance(one, dict):
                    yield one  # type: ignore[misc]  # what is no mapping is an event
        finally:
            self.leave(queue)

    async def stop(self) -> None:
        """Interrupt what plays, and wait for its end."""
        if playing := self.task:
            await self._ctx.turns.interrupt(self.session)
            await asyncio.wait({playing})

    async def rest(self) -> None:
        """Wait until nothing plays."""
        while playing := self.task:
            await asyncio.wait({playing})

    async def _play(self) -> None:
        try:
            held = True
            while self._next or held:
                while self._next:
                    env, turn, self.by = self._next.popleft()
                    caller.set(env)
                    await self._follow(turn)
                    held = True
                if held and self.passing and not self._listeners:
                    await self._ctx.host.turns.let_go(self.session)
                held = False
        finally:
            self.task, self.by, self.past = None, None, []
            self.tighten()
            self.tell(None)

    async def _follow(self, turn: AsyncGenerator[Event, None]) -> None:
        self.tighten()
        try:
            async with contextlib.aclosing(turn) as events:
                async for event in events:
                    if isinstance(event, Started):
                        await self.others.over()
                        self.live = True
                    self._keep(event)
                    self.tell(event)
        except HermesError as error:  # it could not even begin
            self.tell(Failed(kind="failed", text=self._ctx.masks.text(str(error))))
        finally:
            if self.live:
                await self.others.skip()
            self.live = False

    def _keep(self, event: Event) -> None:
        last = self.past[-1] if self.past else None
        if isinstance(event, Said) and isinstance(last, Said):
            self.past[-1] = Said(text=last.text + event.text)
        elif isinstance(event, Ended):
            self.past = []
        elif isinstance(event, _SHOWN) and len(self.past) < _MOST:
            self.past.append(event)

    def tell(self, one: "Event | Mapping[str, Any] | None", *, aloud: bool = False) -> None:
        """Let all who are here know of something; None: nothing plays any more.

        ``aloud`` is an event that is not of what plays: also who shows those by themselves is told.
        """
        aloud = aloud or one is None or isinstance(one, dict) or self.by is None
        for told, by in list(self._listeners.items()):
            if aloud or by is not self.by:
                told(one)

    # --- questions --------------------------------------------------------------------------------------------------

    async def ask(self, question: Question) -> Verdict | None:
        """Put a question to all who are here, or come while it is open; the first answer is the answer.

        It is cancelled when it was answered elsewhere: in a chat, or by `hermes approvals`.
        """
        telling = asyncio.create_task(self._tell_chats(question))
        try:
            return await self.put(question)
        finally:
            telling.cancel()

    async def put(self, question: Question) -> Verdict | None:
        """Put a question to all who are here, and to nobody else; as ``ask``."""
        loop = asyncio.get_running_loop()
        if self._settled:
            await asyncio.sleep(self._settled + _APART - loop.time())
        answer: asyncio.Future[Verdict | None] = loop.create_future()
        self.questions[question.id] = question, answer
        self.tell({"ask": question})
        try:
            return await answer
        finally:
            del self.questions[question.id]
            self._declined.pop(question.id, None)
            if len(self._listeners) > 1 or answer.cancelled():
                self._settled = loop.time()
            self.tell(
                {"settled": question, "verdict": answer.result() if answer.done() and not answer.cancelled() else None}
            )

    async def _tell_chats(self, question: Question) -> None:
        """Tell the person's chats of a question for a yes that nobody at a screen answers; once."""
        if question.kind != "approval":
            return  # what is asked in words can be answered here alone
        for _ in range(_ALONE):
            if not self._listeners:
                break
            await asyncio.sleep(1)
        words = [
            *lines_of(question),
            "",
            f"Asked in session {self.session}. Answer: /approve {question.id}, or /deny {question.id}",
        ]
        # A model chose the words of what is asked.
        message = Message(role="assistant", parts=(Text(text="\n".join(words)),), untrusted=True)
        with contextlib.suppress(HermesError):  # no chat is known, or none can be reached
            await self._ctx.messages.send(self._ctx.owner, "all", message, key=f"host:{question.id}")

    def answer(self, question: str, verdict: Verdict) -> bool:
        """Answer a question; False when somebody else was first."""
        _, answer = self.questions.get(question, (None, None))
        if answer is None or answer.done():
            return False
        answer.set_result(verdict)
        return True

    def decline(self, question: str, by: object) -> None:
        """Take note that somebody who is here can ask nobody; where that holds for all, the question has no answer."""
        _, answer = self.questions.get(question, (None, None))
        if answer is None or answer.done():
            return
        declined = self._declined.setdefault(question, set())
        declined.add(by)
        if all(one is not None and one in declined for one in self._listeners.values()):
            answer.set_result(None)


class Rooms:
    """All of them, by session."""

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx
        self._rooms: dict[str, Room] = {}

    def room(self, session: str) -> Room:
        """Return the room of a session."""
        for name in [name for name, one in self._rooms.items() if not one.needed and name != session]:
            del self._rooms[name]
        return self._rooms.setdefault(session, Room(self._ctx, session))

    async def look(self) -> None:
        """Show in each room in which a screen is what others do there."""
        for room in [one for one in self._rooms.values() if one.watched]:
            await room.others.look()

    def tasks(self) -> Sequence["asyncio.Task[None]"]:
        """Return what plays, and what lets go of what played."""
        return [one.task for one in self._rooms.values() if one.task]

    def needed(self) -> Sequence[str]:
        """Return the sessions in which anybody is, the latest last."""
        return [name for name, one in self._rooms.items() if one.needed]

    def playing(self) -> Sequence[str]:
        """Return the sessions in which something runs, the latest last."""
        return [name for name, one in self._rooms.items() if one.playing]
