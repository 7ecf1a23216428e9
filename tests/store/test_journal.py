"""A turn, step by step; what a cut leaves behind; who may write."""

import asyncio
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from hermes_core.errors import StoreError, UnknownName
from hermes_core.store import leases
from hermes_core.store.leases import Busy, Duplicate, StaleLease, Turn
from hermes_core.store.store import Store
from hermes_core.store.validity import INTERRUPTED, NO_RESULT, NOT_RUN
from hermes_core.types import Envelope, Message, Principal, Session, Text, ToolCall, ToolResult, Usage

ME = Principal()
ID = "20260101_000000_aaaaaa"


def user(text: str = "hello") -> Message:
    return Message(role="user", parts=(Text(text=text),))


def reply(text: str = "hi", *calls: ToolCall) -> Message:
    return Message(role="assistant", parts=(Text(text=text), *calls))


def call(call_id: str = "c1", **arguments: object) -> ToolCall:
    return ToolCall(id=call_id, name="ls", arguments=arguments)


def result(of: ToolCall, text: str = "done") -> ToolResult:
    return ToolResult(call_id=of.id, name=of.name, parts=(Text(text=text),))


async def begun(store: Store, turn_id: str = "t1", text: str = "hello") -> Turn:
    return await store.journal.open_turn(ID, user(text), turn_id=turn_id, holder="test", provider="p", model="m")


@pytest.fixture(autouse=True)
async def session(store: Store) -> None:
    await store.sessions.create(Session(id=ID, origin="cli", owner=ME))


def kill_holder(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on, the clock says that every lease is long over."""
    now = leases._now
    monkeypatch.setattr(leases, "_now", lambda tx: now(tx) + leases.LIFE * 2)


def said(messages: list[Message]) -> list[tuple[str, str]]:
    shown: list[tuple[str, str]] = []
    for message in messages:
        for part in message.parts:
            if isinstance(part, Text):
                shown.append((message.role, part.text))
            elif isinstance(part, ToolResult):
                shown.append((message.role, "".join(p.text for p in part.parts if isinstance(p, Text))))
    return shown


async def test_a_turn_is_stored_step_by_step(store: Store) -> None:
    turn = await begun(store)
    first, second = call("c1", path="/tmp"), call("c2", path="/etc")
    await store.journal.add_reply(turn, reply("looking", first, second), Usage(input=10, output=5, calls=1), "tools")
    for each in (first, second):
        await store.journal.start_call(turn, each.id)
        await store.journal.finish_call(turn, each, result(each, each.id), outcome="ok", seconds=0.5)
    await store.journal.add_reply(turn, reply("found"), Usage(input=20, output=5, cost=0.25, calls=1), "stop")
    await store.journal.close_turn(turn, state="done")

    history = await store.history.load(ID)
    assert said(history) == [
        ("user", "hello"),
        ("assistant", "looking"),
        ("tool", "c1"),
        ("tool", "c2"),
        ("assistant", "found"),
    ]
    [row] = await store.sessions.list(ME)
    assert row.usage == Usage(input=30, output=10, cost=0.25, calls=2)
    assert (row.messages, row.tool_calls, row.preview) == (5, 2, "hello")


async def test_results_are_read_in_the_order_of_the_calls(store: Store) -> None:
    turn = await begun(store)
    first, second = call("c1"), call("c2")
    await store.journal.add_reply(turn, reply("go", first, second), Usage(), "tools")
    for each in (second, first):
        await store.journal.finish_call(turn, each, result(each, each.id), outcome="ok", seconds=0)
    assert said(await store.history.load(ID))[-2:] == [("tool", "c1"), ("tool", "c2")]


async def test_a_call_that_had_started_is_told_as_unknown_and_one_that_had_not_as_not_run(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = await begun(store)
    calls = [call("done"), call("started"), call("pending")]
    await store.journal.add_reply(turn, reply("go", *calls), Usage(), "tools")
    await store.journal.start_call(turn, "done")
    await store.journal.finish_call(turn, calls[0], result(calls[0]), outcome="ok", seconds=1)
    await store.journal.start_call(turn, "started")

    kill_holder(monkeypatch)
    await begun(store, "t2", "again")
    assert said(await store.history.load(ID)) == [
        ("user", "hello"),
        ("assistant", "go"),
        ("tool", "done"),
        ("tool", NO_RESULT),
        ("tool", NOT_RUN),
        ("assistant", INTERRUPTED),
        ("user", "again"),
    ]
    outcomes = {entry.call_id: entry.outcome for entry in await store.history.tool_calls(ME)}
    assert outcomes == {"done": "ok", "started": "unknown", "pending": "refused"}


async def test_repair_only_adds_rows(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    turn = await begun(store)
    await store.journal.add_reply(turn, reply("go", call()), Usage(), "tools")
    before = await store.history.messages(ME, ID)
    kill_holder(monkeypatch)
    await begun(store, "t2")
    assert (await store.history.messages(ME, ID, window=50))[: len(before)] == before


async def test_a_turn_without_an_answer_is_followed_by_a_word_about_it(store: Store) -> None:
    turn = await begun(store)
    await store.journal.close_turn(turn, state="failed", error="no network")
    await begun(store, "t2", "again")
    assert said(await store.history.load(ID)) == [("user", "hello"), ("assistant", INTERRUPTED), ("user", "again")]


async def test_closing_a_turn_answers_its_open_calls_and_frees_the_session(store: Store) -> None:
    turn = await begun(store)
    await store.journal.add_reply(turn, reply("go", call()), Usage(), "tools")
    await store.journal.close_turn(turn, state="interrupted")
    assert said(await store.history.load(ID))[-1] == ("tool", NOT_RUN)
    await begun(store, "t2")


async def test_a_session_with_a_live_holder_is_busy(store: Store) -> None:
    await begun(store)
    with pytest.raises(Busy) as caught:
        await begun(store, "t2")
    assert caught.value.holder == "test"
    assert len(await store.history.messages(ME, ID)) == 1


async def test_a_holder_whose_process_is_gone_is_replaced_at_once(store: Store, tmp_path: Path, url: str) -> None:
    program = (
        "import asyncio, sys; from pathlib import Path; from hermes_core.store.store import open_store\n"
        "from hermes_backend_postgresql.driver import PostgreSQL\n"
        "from hermes_core.types import Message, Text\n"
        "store = open_store(Path(sys.argv[1]), url=sys.argv[3], driver=PostgreSQL())\n"
        "say = Message(role='user', parts=(Text(text='from afar'),))\n"
        "asyncio.run(store.journal.open_turn(sys.argv[2], say, turn_id='far', holder='far', provider='', model=''))\n"
        "import os; os.kill(os.getpid(), 9)"
    )
    place = (str(tmp_path / "state.db"), ID, url)
    other = await asyncio.create_subprocess_exec(sys.executable, "-c", program, *place)
    assert await other.wait() == -9
    await begun(store)
    assert [text for _, text in said(await store.history.load(ID))] == ["from afar", INTERRUPTED, "hello"]


async def test_a_clock_set_back_neither_frees_nor_blocks_a_session(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = await begun(store)
    monkeypatch.setattr("hermes_core.store.journal.time", SimpleNamespace(time=lambda: time.time() - 3600))
    with pytest.raises(Busy):
        await begun(store, "t2")
    await store.journal.add_reply(turn, reply("still first"), Usage(), "stop")
    await store.journal.close_turn(turn, state="done")
    await begun(store, "t2", "second")
    assert [text for _, text in said(await store.history.load(ID))] == ["hello", "still first", "second"]


async def test_a_lease_from_before_a_reboot_is_dead(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    await begun(store)
    monkeypatch.setattr(leases, "_now", lambda tx: 5.0)
    await begun(store, "t2")


async def test_a_replaced_holder_can_write_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    old = await begun(store)
    one = call()
    await store.journal.add_reply(old, reply("go", one), Usage(), "tools")
    kill_holder(monkeypatch)
    await begun(store, "t2")
    before = await store.history.messages(ME, ID, window=50)
    for write in (
        store.journal.beat(old),
        store.journal.add_reply(old, reply(), Usage(), "stop"),
        store.journal.start_call(old, "c1"),
        store.journal.finish_call(old, one, result(one), outcome="ok", seconds=0),
        store.journal.close_turn(old, state="done"),
    ):
        with pytest.raises(StaleLease):
            await write
    assert await store.history.messages(ME, ID, window=50) == before


async def test_a_call_is_started_once_and_finished_once(store: Store) -> None:
    turn = await begun(store)
    one = call()
    await store.journal.add_reply(turn, reply("go", one), Usage(), "tools")
    await store.journal.start_call(turn, "c1")
    with pytest.raises(StoreError, match="started already"):
        await store.journal.start_call(turn, "c1")
    await store.journal.finish_call(turn, one, result(one), outcome="ok", seconds=0)
    with pytest.raises(StoreError, match="ok already"):
        await store.journal.finish_call(turn, one, result(one), outcome="ok", seconds=0)
    with pytest.raises(StoreError, match="no tool call"):
        await store.journal.start_call(turn, "other")


async def test_identical_calls_are_counted_whatever_the_order_of_arguments(store: Store) -> None:
    turn = await begun(store)
    counts = []
    for number, arguments in enumerate([{"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1}, {"a": 1, "b": 2}]):
        each = call(f"c{number}", **arguments)
        await store.journal.add_reply(turn, reply("", each), Usage(), "tools")
        counts.append(await store.journal.start_call(turn, each.id))
        await store.journal.finish_call(turn, each, result(each), outcome="ok", seconds=0)
    assert counts == [0, 1, 0, 2]


async def test_the_same_incoming_message_opens_one_turn(store: Store) -> None:
    envelope = Envelope(platform="irc", account="a", event_id="7", chat="c", sender="s", message=user())

    async def receive(turn_id: str) -> Turn:
        return await store.journal.open_turn(
            ID, user(), turn_id=turn_id, holder="test", envelope=envelope, provider="", model=""
        )

    turn = await receive("t1")
    await store.journal.close_turn(turn, state="done")
    with pytest.raises(Duplicate, match="irc/a/7"):
        await receive("t2")
    assert len(await store.history.messages(ME, ID)) == 1


async def test_a_message_that_finds_the_session_busy_may_come_again(store: Store) -> None:
    envelope = Envelope(platform="irc", account="a", event_id="8", chat="c", sender="s", message=user())
    turn = await begun(store)
    with pytest.raises(Busy):
        await store.journal.open_turn(ID, user(), turn_id="t2", holder="x", envelope=envelope, provider="", model="")
    await store.journal.close_turn(turn, state="done")
    await store.journal.open_turn(ID, user(), turn_id="t2", holder="x", envelope=envelope, provider="", model="")


async def test_the_prompt_is_kept_once_byte_for_byte_with_the_tools_told_of_last(store: Store) -> None:
    assert await store.sessions.load_prompt(ID) is None
    await store.sessions.save_prompt(ID, "You are…\r\n한글", "[]")
    await store.sessions.save_prompt(ID, "another", "[1]")
    assert await store.sessions.load_prompt(ID) == ("You are…\r\n한글", "[1]")


async def test_a_session_nobody_made_takes_no_message(store: Store) -> None:
    with pytest.raises(UnknownName):
        await store.history.add("nowhere", user())
    with pytest.raises(UnknownName):
        await store.journal.open_turn("nowhere", user(), turn_id="t", holder="x", provider="", model="")


async def test_what_is_stored_is_there_after_opening_again(store: Store, reopen: Callable[..., Store]) -> None:
    await store.history.add(ID, user("kept"))
    store.close()
    again = reopen()
    assert said(await again.history.load(ID)) == [("user", "kept")]
    again.close()
    again.close()


async def test_text_that_no_database_takes_is_cleaned(store: Store) -> None:
    await store.history.add(ID, user("a\x00b \ud800"))
    assert said(await store.history.load(ID)) == [("user", "ab \ufffd")]
