"""A conversation far longer than its window, with a summariser that forgets: what was said is one recall away.

``pytest --turns 1000 plugins/hermes-memory-compressor/tests/test_long_conversations.py -s`` is the long run; it prints
what it came to.
"""

import random
import re
from collections.abc import AsyncIterator
from itertools import product
from typing import Any

import pytest
from attrs import frozen

from hermes_core.errors import ContextTooLong
from hermes_core.kinds import Provider, tool
from hermes_core.store.validity import valid
from hermes_core.testing.bench import Bench
from hermes_core.types import CallDelta, Delta, Done, Ended, Endpoint, Model, Request, TextDelta, Usage, UsageDelta
from hermes_memory_compressor import tokens

FORGOTTEN = 0.03  # of the facts, by each pass of the summariser
WANTED = 48  # of 50
THINGS = (
    "staging port",
    "vault code",
    "door badge",
    "build number",
    "invoice",
    "mirror",
    "seat",
    "batch",
    "tag",
    "pin",
)
NAMES = ("Orca", "Lynx", "Heron", "Otter", "Bison")
FACTS = {
    f"{thing} of {name}": f"{name[:2].upper()}-{41_000 + 97 * number}"
    for number, (thing, name) in enumerate(product(THINGS, NAMES))
}
_FACT = re.compile(r"the ([a-z ]+ of [A-Z]\w+) is ([A-Z]{2}-\d+)")


@frozen
class Page:
    number: int


@tool(idempotent=True, touches=lambda _page: ())
async def read_page(page: Page) -> str:
    """Read a page."""
    return f"page {page.number}: " + f"line {page.number} of Orca and Lynx, a staging port and an invoice. " * 60


class Worker(Provider):
    """Reads pages in three of five turns; recalls what it is told to; summarises, and loses a little each time."""

    name, priority = "worker", 10

    def __init__(self, window: int) -> None:
        self.holds, self.dice = window, random.Random(window)
        self.requests = self.summaries = self.refused = self.number = 0
        self.last: Request | None = None

    async def models(self) -> list[Model]:
        return [Model(name="worker-1", context=self.holds)]

    async def ready(self) -> bool:
        return True

    def at(self, endpoint: Endpoint) -> Provider:
        return self

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        size = tokens.of_request(request)
        if size > self.holds:
            self.refused += 1
            raise ContextTooLong("Input is too long for requested model.")
        if "hand-over note" in request.messages[0].parts[0].text:
            self.summaries += 1
            pieces: list[Delta] = [TextDelta(text=self._summary(request)), Done(reason="stop")]
        else:
            assert valid(request.messages[1:]) == list(request.messages[1:])
            self.requests, self.last = self.requests + 1, request
            pieces = self._answer(request)
        for piece in (UsageDelta(usage=Usage(input=size, output=20, calls=1)), *pieces):
            yield piece

    def _answer(self, request: Request) -> list[Delta]:
        last = request.messages[-1]
        if last.role == "user":
            self.number += 1
            said = last.parts[0].text
            if said.startswith("Look up: "):
                return self._call("recall", f'{{"query": "{said.removeprefix("Look up: ")}"}}')
            if self.number % 5 < 3:
                return self._call("read_page", f'{{"number": {self.number}}}')
        return [TextDelta(text=f"Done with step {self.number}; nothing to add."), Done(reason="stop")]

    def _call(self, name: str, arguments: str) -> list[Delta]:
        return [CallDelta(index=0, id=f"c{self.requests}", name=name, arguments=arguments), Done(reason="tools")]

    def _summary(self, request: Request) -> str:
        found = dict(_FACT.findall(request.messages[1].parts[0].text))
        kept = [f"- the {what} is {value}" for what, value in found.items() if self.dice.random() > FORGOTTEN]
        return "\n".join(["## Goal", "Go on.", "## Critical context", *kept])


def text_of(request: Request) -> str:
    return "\n".join(part.text for message in request.messages for part in message.parts if hasattr(part, "text"))


async def converse(hermes: Bench, turns: int) -> None:
    """Talk, and say the facts on the way, evenly spread."""
    dice, facts = random.Random(turns), list(FACTS.items())
    for turn in range(turns):
        due = facts[len(facts) * turn // turns : len(facts) * (turn + 1) // turns]
        told = "".join(f" By the way, the {what} is {value}." for what, value in due)
        about = f"{dice.choice(NAMES)} and its {dice.choice(THINGS)}"
        said = f"Step {turn}: look at {about}.{told} Then go on with the next one."
        ended = [event async for event in hermes.turn(said, session="s")][-1]
        assert isinstance(ended, Ended)
        assert ended.reason == "done", f"in turn {turn}"


async def recalled(hermes: Bench, what: str) -> str:
    """What one recall gives."""
    [event async for event in hermes.turn(f"Look up: {what}", session="s")]
    rows = await (await hermes.runtime.store()).history.load("s", whole=True)
    return next(m for m in reversed(rows) if m.role == "tool").parts[0].parts[0].text


@pytest.mark.parametrize("window", [8_000, 32_000, 128_000])
@pytest.mark.long
@pytest.mark.timeout(3_000)
async def test_what_was_said_is_in_the_context_or_found_by_one_recall(
    hermes: Bench, window: int, request: Any, capsys: Any
) -> None:
    turns, worker = request.config.getoption("turns"), Worker(window)
    hermes.tmp_plugin(worker, name="worker")
    hermes.tmp_plugin(read_page, name="pages")
    hermes.tmp_plugin("hermes_memory_compressor")
    hermes.tmp_plugin("hermes_tool_recall")
    hermes.tmp_plugin("hermes_provider_router")
    hermes.configure({"model.context_length": window, "memories.compressor.least_tokens": 8_000})
    await converse(hermes, turns)
    assert worker.last is not None
    there = text_of(worker.last)
    known = {what for what, value in FACTS.items() if value in there}
    found = {what for what, value in FACTS.items() if value in await recalled(hermes, what)}
    with capsys.disabled():
        print(
            f"\n{window:,} tokens, {turns:,} turns: {worker.requests:,} requests, {worker.summaries} summaries, "
            f"{worker.refused} refused, {len(known)} of 50 in the context, {len(found)} by recall, "
            f"{len(known | found)} by either"
        )
    assert len(known | found) >= WANTED, sorted(set(FACTS) - known - found)
    assert len(found) >= WANTED, sorted(set(FACTS) - found)
    assert worker.refused == 0
    assert not hermes.runtime.dispatch.faults
