"""A house in which people speak in all places: alone, in groups, in shared threads, over an API, in the background."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from hermes_core.kinds import Provider, ToolContext, Workspace, tool
from hermes_core.testing import FakeBackend, FakeWorkspace
from hermes_core.types import (
    CallDelta,
    Done,
    Effect,
    Envelope,
    Failed,
    Message,
    Model,
    Principal,
    Question,
    Request,
    Returned,
    Speaker,
    Started,
    Text,
    TextDelta,
    Usage,
    UsageDelta,
    Verdict,
)

_CALL = re.compile(r"CALL (\w+) (\{.*\})")
PLACES = ("direct", "group", "thread", "api", "background", "waiting", "child")


@frozen
class Line:
    """A command."""

    command: str = ""


@frozen
class Page:
    """Where to look."""

    host: str = ""


@frozen
class Paper:
    """A file."""

    path: str = ""


class Vendor(Provider):
    """Makes the call that it is told to make, and says who it is. ``cost`` gives what a call takes."""

    name = "vendor"

    def __init__(self) -> None:
        self.answered: list[str] = []
        self.costs: list[int] = []
        self.cost = lambda: 10

    async def models(self) -> list[Model]:
        return [Model(name="big"), Model(name="small"), Model(name="tiny")]

    async def ready(self) -> bool:
        return True

    async def stream(self, request: Request) -> Any:
        self.answered.append(request.model)
        last, cost = request.messages[-1], self.cost()
        said = "".join(part.text for part in last.parts if isinstance(part, Text))
        calls = _CALL.search(said) if last.role == "user" and request.tools else None
        if calls:
            yield CallDelta(index=0, id="c1", name=calls[1], arguments=calls[2])
        else:
            yield TextDelta(text=f"I am {request.model}.")
        self.costs.append(cost)
        yield UsageDelta(usage=Usage(input=cost - 1, output=1, cost=cost / 100, calls=1))
        yield Done(reason="tools" if calls else "stop")


class Places(FakeBackend):
    """Opens each folder as a workspace of its own."""

    async def open(self, key: str) -> Workspace:
        return FakeWorkspace(folder=Path(key))


class House:
    """A Hermes with people. ``did`` says what tools did, and with which backend."""

    def __init__(self, hermes: Any) -> None:
        self.hermes, self.vendor, self.did, self.number = hermes, Vendor(), list[str](), 0
        self.asked: list[Question] = []
        hermes.tmp_plugin(self.vendor)
        hermes.tmp_plugin("hermes_tool_roles")
        hermes.tmp_plugin("hermes_tool_delegate")
        hermes.tmp_plugin(*self._tools(), name="tools")
        for name in ("far", "near"):
            hermes.tmp_plugin(Places(FakeWorkspace(), name=name), name=name)
        hermes.configure({"model.provider": "vendor", "model.default": "big", "agent.backoff_seconds": 0})

    async def ask(self, question: Question) -> Verdict:
        """Somebody who says yes to everything, so that only what is refused is not done."""
        self.asked.append(question)
        return Verdict(outcome="allow", choice="once")

    def _tools(self) -> Sequence[Any]:
        @tool(toolset="desk", effects={Effect.EXECUTE}, touches=lambda _: ())
        async def run(context: ToolContext, line: Line) -> str:
            """Run a command."""
            self.did.append(f"run {line.command} on {context.session.backend}")
            return "ran"

        @tool(toolset="net", effects={Effect.NETWORK}, touches=lambda page: [f"host:{page.host}"])
        async def look(page: Page) -> str:
            """Look at a page."""
            self.did.append(f"look {page.host}")
            return "looked"

        @tool(toolset="papers", effects={Effect.WRITE_FILES}, touches=lambda paper: [f"file:{paper.path}"])
        async def write(paper: Paper) -> str:
            """Write a file."""
            self.did.append(f"write {paper.path}")
            return "written"

        @tool(toolset="talk", touches=lambda _: ())
        async def note(line: Line) -> str:
            """Note something."""
            self.did.append("note")
            return "noted"

        return [run, look, write, note]

    def came(self, text: str, person: str, place: str, *, named: bool, chat: str) -> tuple[Principal, Envelope]:
        """Whose session it is in a place, and the message as a host hears it."""
        self.number += 1
        message = Message(role="user", parts=(Text(text=text),))
        group = place in ("group", "thread")
        owner = Principal(person=f"room#{chat}") if place == "thread" else Principal(person=person)
        speaker = None if place == "api" else Speaker(person=person, named=named)
        known: dict[str, Any] = {"platform": "room", "account": "bot", "event_id": f"e{self.number}"}
        kind = "group" if group else "dm"
        return owner, Envelope(sender=person, chat=chat, kind=kind, message=message, speaker=speaker, **known)

    async def say(
        self, place: str, person: str, text: str, *, named: bool = True, chat: str = "7", session: str = ""
    ) -> tuple[str, str]:
        """What a call came to, or the answer; and why it failed. A child does what its parent was told to have done."""
        if place == "child":
            text = f"CALL delegate {json.dumps({'goal': text})}"
        owner, envelope = self.came(text, person, place, named=named, chat=chat)
        turns = self.hermes.runtime.turns
        if place in ("background", "waiting"):
            session = session or f"s{self.number}"
            try:
                await turns.queue(session, envelope.message, owner=owner, origin="room", envelope=envelope)
            except Exception as error:
                return "", str(error)
            turn = turns.follow(session, owner=owner, ask=self.ask)
        else:
            turn = turns.run(
                envelope.message, session=session, origin="room", owner=owner, envelope=envelope, ask=self.ask
            )
        events = [event async for event in turn]
        failed = " ".join(event.text for event in events if isinstance(event, Failed))
        results = [event.result for event in events if isinstance(event, Returned)]
        told = "".join(p.text for one in results for p in one.parts if isinstance(p, Text)) or events[-1].answer
        assert events
        self.began = [event.model for event in events if isinstance(event, Started)]
        return told, failed
