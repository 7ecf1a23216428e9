"""Sessions are found by name, listed, renamed, deleted and pruned; each person sees their own."""

import time
from collections.abc import Callable

import pytest
from attrs import evolve

from hermes_core.errors import UnknownName, UserError
from hermes_core.store.leases import Busy
from hermes_core.store.store import Store
from hermes_core.types import Envelope, Message, Principal, Session, Text, ToolCall, ToolResult, Usage

Sql = Callable[[str], list[tuple[object, ...]]]
ME, OTHER = Principal(), Principal(profile="work")


async def make(store: Store, session_id: str, title: str = "", owner: Principal = ME, **more: object) -> None:
    origin = str(more.get("origin", "cli"))
    await store.sessions.create(Session(id=session_id, origin=origin, owner=owner, title=title))


async def say(store: Store, session_id: str, text: str = "hello") -> int:
    return await store.history.add(session_id, Message(role="user", parts=(Text(text=text),)))


async def test_a_session_comes_back_as_it_was(store: Store) -> None:
    session = Session(
        id="s1", origin="irc", owner=OTHER, parent="s0", title="t", cwd="/x", provider="p", model="m", created=5.0
    )
    await store.sessions.create(session)
    assert await store.sessions.get("s1", OTHER) == session
    with pytest.raises(UserError, match="cannot be used"):
        await store.sessions.create(session)


async def test_nobody_reaches_the_session_of_another(store: Store) -> None:
    await make(store, "theirs", "secret", OTHER)
    await say(store, "theirs")
    for attempt in (
        store.sessions.get("theirs", ME),
        store.sessions.find("theirs", ME),
        store.sessions.find("secret", ME),
        store.sessions.find("latest", ME),
        store.history.messages(ME, "theirs"),
        store.sessions.rename("theirs", "mine", ME),
        store.sessions.delete("theirs", ME),
    ):
        with pytest.raises(UnknownName):
            await attempt
    assert await store.sessions.list(ME) == []
    assert await store.sessions.get("theirs", OTHER)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("20260101_000000_aaaaaa", "20260101_000000_aaaaaa"),
        ("20260101", "20260101_000000_aaaaaa"),
        ("latest", "20260102_000001_cccccc"),
        ("tax return", "20260102_000000_bbbbbb"),
        ("TAX", "20260102_000000_bbbbbb"),
        ("여행", "20260101_000000_aaaaaa"),
    ],
)
async def test_a_session_is_found_by_what_people_remember(store: Store, words: str, wanted: str) -> None:
    await make(store, "20260101_000000_aaaaaa", "여행 계획")
    await make(store, "20260102_000000_bbbbbb", "Tax Return")
    await make(store, "20260102_000001_cccccc")
    await say(store, "20260102_000001_cccccc")
    assert (await store.sessions.find(words, ME)).id == wanted


async def test_words_that_fit_several_sessions_list_them(store: Store) -> None:
    await make(store, "20260102_000000_bbbbbb", "one")
    await make(store, "20260102_000001_cccccc", "two")
    with pytest.raises(UserError, match="2 sessions"):
        await store.sessions.find("20260102", ME)
    with pytest.raises(UnknownName, match="'one'"):
        await store.sessions.find("onee", ME)
    with pytest.raises(UnknownName):
        await store.sessions.find("", ME)


async def test_the_list_is_in_order_of_use_whatever_the_clock_says(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        await make(store, name, origin="irc" if name == "b" else "cli")
        await say(store, name)
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    await say(store, "a")
    assert [row.session.id for row in await store.sessions.list(ME)] == ["a", "c", "b"]
    assert [row.session.id for row in await store.sessions.list(ME, limit=1)] == ["a"]
    assert [row.session.id for row in await store.sessions.list(ME, origin="irc")] == ["b"]


async def test_a_long_first_message_is_shortened_in_lists(store: Store) -> None:
    await make(store, "a")
    await say(store, "a", "word\n" * 100)
    [row] = await store.sessions.list(ME)
    assert len(row.preview) == 80
    assert row.preview.startswith("word word")


async def test_a_title_belongs_to_one_session(store: Store) -> None:
    await make(store, "a", "Trip")
    await make(store, "b")
    with pytest.raises(UserError, match="already"):
        await store.sessions.rename("b", " trip ", ME)
    await store.sessions.rename("a", "Trip", ME)
    await store.sessions.rename("b", "  Second \n trip  ", ME)
    assert (await store.sessions.get("b", ME)).title == "Second trip"


async def test_only_what_is_given_is_updated(store: Store) -> None:
    await make(store, "a")
    await store.sessions.update("a", provider="p", model="m")
    await store.sessions.update("a", model="n", cwd="/x")
    session = await store.sessions.get("a", ME)
    assert (session.provider, session.model, session.cwd) == ("p", "n", "/x")


async def test_what_is_forgotten_is_gone(store: Store, sql: Sql) -> None:
    await make(store, "a")
    said = Message(role="user", parts=(Text(text="hello"),))
    envelope = Envelope(platform="irc", account="a", event_id="1", chat="c", sender="s", quote="hello?", message=said)
    await store.sessions.save_prompt("a", "prompt", "[]")
    turn = await store.journal.open_turn("a", said, turn_id="t", holder="x", envelope=envelope, provider="", model="")
    with pytest.raises(Busy):
        await store.sessions.delete("a", ME)
    await store.inbox.wait("a", said, mode="queue", envelope=evolve(envelope, event_id="2"))
    await store.inbox.drop("a")
    await store.inbox.wait("a", said, mode="queue", envelope=evolve(envelope, event_id="3"))
    await store.journal.close_turn(turn, state="done")
    assert [gone.id for gone in await store.sessions.delete("a", ME)] == ["a"]
    assert await store.sessions.list(ME) == []
    assert await store.sessions.load_prompt("a") is None
    assert await store.history.search(ME, "hello") == []
    for table in ("messages", "contexts", "inbox"):
        assert sql(f"SELECT 1 FROM {table} WHERE body LIKE '%hello%'") == [], table
    assert sql("SELECT event_id, envelope FROM inbox ORDER BY event_id") == [("1", ""), ("2", ""), ("3", "")]


async def test_messages_are_read_around_one_or_from_the_end(store: Store) -> None:
    await make(store, "a")
    rows = [await say(store, "a", str(number)) for number in range(20)]
    near = await store.history.messages(ME, "a", around=rows[10], window=2)
    assert [row for row, _ in near] == rows[8:13]
    assert [row for row, _ in await store.history.messages(ME, "a", window=3)] == rows[-3:]


async def test_tool_calls_and_usage_are_remembered(store: Store) -> None:
    await make(store, "a")
    said = Message(role="user", parts=(Text(text="x"),))
    turn = await store.journal.open_turn("a", said, turn_id="t", holder="x", provider="p", model="m")
    calls = [ToolCall(id=name, name=name, arguments={"n": 1}) for name in ("ls", "cat")]
    used = Usage(input=7, output=3, cache_read=2, cost=0.5, calls=1)
    reply = Message(role="assistant", parts=tuple(calls))
    await store.journal.add_reply(turn, reply, used, "tools", calls=[("p", "m", used, 0.5)])
    await store.spending.add(ME, evolve(used, priced="estimated"), task="title", provider="p", model="small")
    for call in calls:
        await store.journal.start_call(turn, call.id)
        result = ToolResult(call_id=call.id, name=call.name, parts=(Text(text=f"ran {call.name}"),))
        await store.journal.finish_call(
            turn, call, result, outcome="failed" if call.name == "cat" else "ok", seconds=1.5
        )
    await store.journal.close_turn(turn, state="done")

    newest, oldest = await store.history.tool_calls(ME)
    assert (newest.name, newest.output, newest.outcome, newest.seconds) == ("cat", "ran cat", "failed", 1.5)
    assert (oldest.arguments, oldest.turn_id, oldest.session_id) == ({"n": 1}, "t", "a")
    assert [entry.name for entry in await store.history.tool_calls(ME, tool="ls")] == ["ls"]
    assert len(await store.history.tool_calls(ME, session_id="a", limit=1)) == 1
    assert await store.history.tool_calls(ME, session_id="b") == []
    assert await store.history.tool_calls(OTHER) == []
    talk, title = await store.spending.usage(ME, days=2)
    assert (talk.provider, talk.model, talk.task, talk.turns, talk.usage) == ("p", "m", "", 1, used)
    assert (talk.unpriced, talk.estimated) == (1, 0)
    assert (title.model, title.task, title.turns, title.unpriced, title.estimated) == ("small", "title", 0, 0, 0.5)
    assert await store.spending.usage(OTHER, days=2) == []
