"""A task that is far longer than its model's window: what was said at its start is there at its end."""

import json
import re
from collections.abc import AsyncIterator, Mapping
from itertools import pairwise
from typing import Any

import pytest
from attrs import frozen

from hermes_core.codec import message_to_json
from hermes_core.kinds import Provider, tool
from hermes_core.store.validity import valid
from hermes_core.testing.bench import Bench
from hermes_core.types import (
    CallDelta,
    Delta,
    Done,
    Ended,
    Endpoint,
    Model,
    Request,
    Text,
    TextDelta,
    ToolResult,
    Usage,
    UsageDelta,
)

PLAN = [{"id": "1", "content": "Read the logs", "status": "in_progress"}, {"id": "2", "content": "Report the code"}]
PAGES = 30


@frozen
class Page:
    number: int


@tool(idempotent=True, touches=lambda _page: ())
async def read_log(page: Page) -> str:
    """Read a page of the log."""
    return f"page {page.number}: " + f"line of page {page.number}, nothing of interest. " * 40


def words_of(request: Request) -> str:
    parts = [part for message in request.messages[1:] for part in message.parts]
    inner = [piece for part in parts if isinstance(part, ToolResult) for piece in part.parts]
    return "\n".join(part.text for part in [*parts, *inner] if isinstance(part, Text))


class Forgetful(Provider):
    """Knows only what the request says. Makes a plan, reads all pages, then reports the code and the plan."""

    name, priority = "forgetful", 10

    def __init__(self, *, note: str = "good") -> None:
        self.note, self.step = note, 0
        self.requests: list[Request] = []
        self.notes: list[Request] = []

    async def models(self) -> list[Model]:
        return [Model(name="small-1", context=8_000)]

    async def ready(self) -> bool:
        return True

    def at(self, endpoint: Endpoint) -> Provider:
        return self

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        text = words_of(request)
        if "hand-over note" in request.messages[0].parts[0].text:
            self.notes.append(request)
            code = re.findall(r"the code is \w+", text) if self.note == "good" else []
            said = "" if self.note == "empty" else f"## Goal\nRead all logs.\n## Critical context\n{' '.join(code[:1])}"
            used = UsageDelta(usage=Usage(input=1_000, output=100, calls=1))
            pieces: list[Delta] = [TextDelta(text=said), used, Done(reason="stop")]
        else:
            self.requests.append(request)
            self.step += 1
            pieces = self._next(text, request)
        for piece in pieces:
            yield piece

    def _next(self, text: str, request: Request) -> list[Delta]:
        used = UsageDelta(usage=Usage(input=len(str(request.messages)) // 5, output=5, calls=1))
        if self.step == 1:
            return [*_call("todo", {"todos": PLAN}, self.step), used, Done(reason="tools")]
        if self.step <= PAGES + 1:
            return [*_call("read_log", {"number": self.step - 1}, self.step), used, Done(reason="tools")]
        code = re.search(r"the code is (\w+)", text)
        plan = "[ ] 2: Report the code" in text
        answer = f"code {code[1] if code else 'unknown'}, plan {'known' if plan else 'lost'}, at {self.step}"
        return [TextDelta(text=answer), used, Done(reason="stop")]


def _call(name: str, arguments: Mapping[str, Any], number: int) -> list[Delta]:
    return [CallDelta(index=0, id=f"call-{number}", name=name, arguments=json.dumps(arguments))]


def put_in(hermes: Any, provider: Provider, **settings: object) -> None:
    hermes.tmp_plugin(provider, name="forgetful")
    hermes.tmp_plugin(read_log, name="logs")
    hermes.tmp_plugin("hermes_tool_todo")
    hermes.tmp_plugin("hermes_memory_compressor")
    hermes.configure({"memories.compressor.window": 8_000, "agent.max_calls": 200, **settings})


def blocks(request: Request) -> list[str]:
    return [json.dumps(message_to_json(message)) for message in request.messages]


def compactions(requests: list[Request]) -> int:
    return sum(blocks(later)[: len(earlier.messages)] != blocks(earlier) for earlier, later in pairwise(requests))


@pytest.fixture
def provider() -> Forgetful:
    return Forgetful()


ASK = "Read all pages of the log, then report: the code is QX7. " + "Be thorough. " * 20


async def test_a_fact_from_the_start_and_the_plan_are_there_at_the_end(hermes: Any, provider: Forgetful) -> None:
    put_in(hermes, provider, **{"tools.todo.finish": "never"})  # else the open plan would send it on
    events = [event async for event in hermes.turn(ASK, session="s")]
    ended = events[-1]
    assert isinstance(ended, Ended)
    assert ended.answer == f"code QX7, plan known, at {PAGES + 2}"
    assert "messages were compacted to" in ended.note
    assert hermes.runtime.dispatch.faults == []
    whole = await (await hermes.runtime.store()).history.load("s", whole=True)
    assert len(whole) == 2 * (PAGES + 1) + 2, "every message is still stored"
    for request in provider.requests:
        assert valid(request.messages[1:]) == list(request.messages[1:])
        assert [m for m in request.messages if m.role == "user"][-1].parts[0].text == ASK
    done = compactions(provider.requests)
    assert 1 <= done <= PAGES // 4, "between two compactions the bytes that were sent stay the same"


async def test_facts_of_an_earlier_turn_come_through_the_summary_and_a_restart(tmp_path: Any) -> None:
    provider = Forgetful()
    for number, say in enumerate(
        ("Remember: the code is QX7. " + "Also this. " * 50, *["Go on. " + "word " * 900] * 15)
    ):
        hermes = Bench(tmp_path / "home")  # a process for each turn
        provider.step = PAGES + 1
        put_in(hermes, provider, **{"memories.compressor.protect_first": 0})
        async with hermes:
            answer = await hermes.run(say, session="s")
            assert answer.text.startswith("code QX7"), f"in turn {number}"
    assert provider.notes, "a summary was asked for"
    assert len(provider.notes) <= 5
    assert "<earlier_note>" in words_of(provider.notes[-1])
    assert compactions(provider.requests) == len(provider.notes), "a restart does not change the bytes"


async def test_a_pinned_fact_outlives_a_summariser_that_drops_it(hermes: Any) -> None:
    provider = Forgetful(note="lying")
    provider.step = PAGES + 1
    put_in(hermes, provider, **{"memories.compressor.protect_first": 0})
    hermes.runtime.loader.load_contributing("slash")
    commands = {c.name: c for _, c in hermes.runtime.dispatch.contributions("register_slash_commands")}
    session = (await hermes.runtime.sessions.take("s", "cli", hermes.runtime.owner)).session
    await hermes.run("hello", session="s")
    pinned = await commands["pin"].run(session, "the code is QX7")
    assert pinned == "Pinned, 1 in all. Whenever this conversation is compacted, it is kept word for word."
    for _ in range(8):
        await hermes.run("Go on. " + "word " * 1_000, session="s")
    assert (await commands["compress"].run(session, "")).startswith("Compacted: about ")
    assert (await hermes.run("and now?", session="s")).text.startswith("code QX7")
    assert provider.notes


async def test_summaries_are_booked_for_their_conversation_and_written_by_the_model_for_them(hermes: Any) -> None:
    provider, other = Forgetful(), Forgetful()
    provider.step, other.name, other.priority = PAGES + 1, "writer", 1
    hermes.tmp_plugin("hermes_tool_commands")
    hermes.tmp_plugin(other, name="writer")
    writer = {"auxiliary": {"compression": {"provider": "writer", "model": "small-1"}}}
    put_in(hermes, provider, **{"memories.compressor.protect_first": 0, "model.provider": "forgetful", **writer})
    for _ in range(9):
        await hermes.run("Go on. " + "word " * 1_000, session="s")
    assert (len(provider.notes), len(other.notes)) == (0, 1)
    session = (await hermes.runtime.sessions.take("s", "embed", hermes.runtime.owner)).session
    said = str(await hermes.slash("/usage", session))
    assert said.startswith("10 model calls"), "nine answers and a summary"
    assert str(await hermes.slash("/compress", session)).startswith("Compacted: ")
    assert str(await hermes.slash("/usage", session)).startswith("11 model calls"), "and one between two turns"
    rows = await (await hermes.runtime.store()).spending.usage(hermes.runtime.owner)
    assert {(row.task, row.provider, row.usage.calls) for row in rows} == {
        ("", "forgetful", 9),
        ("compression", "writer", 2),
    }


async def test_a_copy_keeps_pins_and_plan_and_a_deleted_conversation_leaves_neither(hermes: Any) -> None:
    provider = Forgetful(note="lying")
    put_in(hermes, provider, **{"memories.compressor.protect_first": 0, "tools.todo.finish": "never"})
    await hermes.run(ASK, session="s")
    session = (await hermes.runtime.sessions.take("s", "embed", hermes.runtime.owner)).session
    await hermes.slash("/pin the vault is 55-12-81", session)
    copy = await hermes.runtime.sessions.fork("s", session.owner)
    assert await hermes.slash("/pin", copy) == "    1  the vault is 55-12-81"
    assert "Report the code" in str(await hermes.slash("/todo", copy))
    for _ in range(8):
        await hermes.run("Go on. " + "word " * 1_000, session=copy.id)
    text = words_of(provider.requests[-1])
    assert "- the vault is 55-12-81" in text
    assert "[ ] 2: Report the code" in text
    await hermes.runtime.sessions.delete(copy.id, session.owner)
    documents = hermes.context("hermes_memory_compressor").documents
    assert [document.session_id for document in await documents.export(session.owner)] == ["s"]


async def test_while_there_is_room_a_summary_that_fails_changes_nothing(hermes: Any) -> None:
    provider = Forgetful(note="empty")
    provider.step = PAGES + 1
    put_in(hermes, provider, **{"memories.compressor.least_tokens": 2_000, "memories.compressor.threshold": 0.3})
    for _ in range(5):
        await hermes.run("Go on. " + "word " * 700, session="s")
    assert len(provider.notes) == 2, "asked once more at once; the next try is ten minutes later"
    assert compactions(provider.requests) == 0
    assert await (await hermes.runtime.store()).history.load("s") == await (await hermes.runtime.store()).history.load(
        "s", whole=True
    )


async def test_when_it_would_overflow_a_list_stands_in_for_the_summary(hermes: Any) -> None:
    provider = Forgetful(note="empty")
    provider.step = PAGES + 1
    put_in(hermes, provider, **{"memories.compressor.protect_first": 0})
    for number in range(9):
        await hermes.run(f"Wish number {number}. " + "word " * 1_000, session="s")
    text = words_of(provider.requests[-1])
    assert "made by rule" in text
    assert "Wish number 1." in text


@pytest.mark.parametrize("note", ["empty", "lying"])
async def test_a_summariser_that_never_works_ends_no_conversation(hermes: Any, note: str) -> None:
    provider = Forgetful(note=note)
    provider.step = PAGES + 1
    put_in(hermes, provider, **{"model.context_length": 8_000})
    for number in range(40):
        events = [event async for event in hermes.turn(f"Wish number {number}. " + "word " * 900, session="s")]
        assert events[-1].reason == "done", f"in turn {number}: {events[-2:]}"
    assert max(len(words_of(request)) // 5 for request in provider.requests) < 8_000, "as the provider counts"
    assert not hermes.runtime.dispatch.faults


async def test_what_another_plugin_appends_is_compacted_with_what_it_stands_behind(
    hermes: Any, provider: Forgetful
) -> None:
    from attrs import evolve

    from hermes_core.hooks import hookimpl
    from hermes_core.types import Message, Text

    @hookimpl
    async def pre_llm_call(request: Request) -> Request:
        aside = Message(role="user", parts=(Text(text=f"(aside {len(provider.requests)})"),))
        return evolve(request, messages=(*request.messages, aside))

    provider = Forgetful(note="empty")
    provider.step = PAGES + 1
    hermes.tmp_plugin(pre_llm_call, name="chatty")
    put_in(hermes, provider, **{"memories.compressor.protect_first": 0, "plugins.order": ["chatty", "compressor"]})
    for number in range(9):
        ended = [event async for event in hermes.turn(f"Wish number {number}. " + "word " * 1_000, session="s")][-1]
        assert ended.reason == "done"
    assert not hermes.runtime.dispatch.faults
    asked, aside = provider.requests[-1].messages[-2:]
    assert asked.parts[0].text.startswith("Wish number 8.")
    assert aside.parts[0].text == "(aside 8)"
    assert "made by rule" in words_of(provider.requests[-1])


async def test_what_does_not_fit_at_all_stops_the_turn_with_a_way_out(hermes: Any, provider: Forgetful) -> None:
    from attrs import evolve

    from hermes_core.hooks import hookimpl

    @hookimpl(tryfirst=True)
    async def pre_llm_call(request: Request) -> Request:
        return evolve(request, context=8_000)

    hermes.tmp_plugin(pre_llm_call, name="knows")
    put_in(hermes, provider, **{"plugins.order": ["knows", "compressor"]})
    events = [event async for event in hermes.turn("word " * 9_000, session="s")]
    failed = next(event for event in events if type(event).__name__ == "Failed")
    assert failed.kind == "context_too_long"
    assert "nothing is left to compact" in failed.text
    assert "/new" in failed.hint
    assert provider.requests == []
