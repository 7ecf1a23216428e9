"""A room in which a scripted model acts: tools that only note what they did, and a person who answers."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from attrs import frozen

import hermes_tool_guard
from hermes_core.errors import ToolError
from hermes_core.kinds import Tool, tool
from hermes_core.testing import Call
from hermes_core.types import Effect, Ended, Feature, Message, Principal, Question, Returned, Text, Verdict

WHY = "and this conversation holds text from outside, which may have asked for it"
YES, NO = Verdict(outcome="allow", choice="once"), Verdict(outcome="deny", reason="the person said no")


@frozen
class Line:
    """A command, where it runs, and how long it may."""

    command: str
    workdir: str = ""
    seconds: int = 0


@frozen
class Place:
    """A file."""

    path: str


@frozen
class Pages:
    """Addresses to open."""

    urls: tuple[str, ...]


@frozen
class Words:
    """What to send."""

    text: str


class Room:
    """Turns of a scripted model. ``did`` is what its tools did, ``asked`` the questions that came to a person.

    ``answer`` is what the person says to each; None: nobody is there. What is fetched from ``dead`` hosts fails.
    """

    def __init__(self, hermes: Any, scripted: Any) -> None:
        self.hermes, self.model = hermes, scripted()
        self.did: list[str] = []
        self.asked: list[Question] = []
        self.answer: Verdict | Callable[[Question], Verdict] | None = NO
        self.dead: set[str] = set()
        self.pages: dict[str, str] = {}
        hermes.tmp_plugin(self.model)
        hermes.tmp_plugin(*self._tools(), name="tools")

    def _tools(self) -> list[Tool]:
        @tool(effects={Effect.EXECUTE}, touches=lambda _: ())
        async def run(line: Line) -> str:
            """Run a command."""
            self.did.append(f"run {line.command}")
            return "ran"

        @tool(effects={Effect.EXECUTE}, touches=lambda _: ())
        async def other(line: Line) -> str:
            """Run a command elsewhere."""
            self.did.append(f"other {line.command}")
            return "ran"

        @tool(effects={Effect.WRITE_FILES}, touches=lambda at: (f"file:{at.path}",))
        async def write(at: Place) -> str:
            """Write a file."""
            self.did.append(f"write {at.path}")
            return "written"

        @tool(effects={Effect.READ_FILES}, touches=lambda at: (f"file:{at.path}",))
        async def look(at: Place) -> str:
            """Read a file."""
            self.did.append(f"look {at.path}")
            return "read"

        @tool(effects={Effect.EXECUTE, Effect.READ_FILES}, touches=lambda at: (f"file:{at.path}",))
        async def play(at: Place) -> str:
            """Run a file."""
            self.did.append(f"play {at.path}")
            return "played"

        @tool(effects={Effect.SEND}, touches=lambda _: ())
        async def send(words: Words) -> str:
            """Send something."""
            self.did.append(f"send {words.text}")
            return "sent"

        @tool(
            effects={Effect.NETWORK},
            untrusted=True,
            touches=lambda pages: [f"host:{urlsplit(url).hostname}" for url in pages.urls],
        )
        async def fetch(pages: Pages) -> str:
            """Read pages."""
            self.did += [f"fetch {url}" for url in pages.urls]
            if dead := [url for url in pages.urls if urlsplit(url).hostname in self.dead]:
                raise ToolError(f"{dead[0]} does not answer.")
            return "\n".join(self.pages.get(url, "A page.") for url in pages.urls)

        return [run, other, write, look, play, send, fetch]

    def offline(self) -> None:
        """From here on, what commands give does not come from outside."""
        self.hermes.workspace.features |= {Feature.OFFLINE}

    @property
    def risks(self) -> list[str]:
        """What the person was told of each call, without what is said of every tainted conversation."""
        return [question.risk.removesuffix(f", {WHY}") for question in self.asked]

    async def turn(
        self,
        *calls: Call,
        said: str | Message = "go",
        session: str = "s",
        owner: Principal | None = None,
        answer: str = "done",
    ) -> list[str]:
        """Have the model make these calls one after the other; what each came to. The turn has to end well."""
        self.model.add(*([call] for call in calls), answer)

        async def person(question: Question) -> Verdict | None:
            self.asked.append(question)
            return self.answer(question) if callable(self.answer) else self.answer

        ask = None if self.answer is None else person
        turn = self.hermes.runtime.turns.run(said, session=session, owner=owner or self.hermes.runtime.owner, ask=ask)
        events = [event async for event in turn]
        assert isinstance(events[-1], Ended)
        assert (events[-1].reason, events[-1].answer) == ("done", answer), events
        self.results = [event.result for event in events if isinstance(event, Returned)]
        return ["".join(p.text for p in one.parts if isinstance(p, Text)) for one in self.results]


@pytest.fixture
def hermes(hermes: Any) -> Any:
    """What is never run, what the parts of commands are, and second opinions say the guard that Hermes comes with."""
    hooks, may = (hermes_tool_guard.judge_command, hermes_tool_guard.second_opinion), {"kernel": ["llm.call"]}
    hermes.tmp_plugin(*hooks, name="guard", manifest={"permissions": may})
    return hermes


@pytest.fixture
def room(hermes: Any, scripted: Any) -> Room:
    """A room of its own for each test."""
    return Room(hermes, scripted)
