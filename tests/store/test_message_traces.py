"""The path of a message, found by whatever a person has of it."""

import re
from collections import Counter

import pytest
from attrs import evolve
from gateway_house import context_of, rows_of

from hermes_core.store.store import Store
from hermes_core.types import (
    Chat,
    Envelope,
    Message,
    MessageTrace,
    Principal,
    Session,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from hermes_platform_gateway.rows.kept import sent
from hermes_platform_gateway.rows.values import Outgoing
from hermes_tool_commands.message_path import steps, verdict

ME, BEN = Principal(), Principal(person="irc:ben")
TRACE = "00ff00ff00ff00ff"
SAID = Message(role="user", parts=(Text(text="hello"),))
FROM = Envelope(
    platform="irc", account="bot", event_id="ev_7", chat="#a", sender="ann", sender_name="Ann", message_id="m%7",
    kind="group", message=SAID,
)  # fmt: skip
ANSWER = Message(role="assistant", parts=(Text(text="hi"),))
OUT = Outgoing(
    key="turn:t1", owner=ME, platform="irc", account="bot", chat=Chat("#a"), message=ANSWER, session_id="s",
    turn_id="t1", trace=TRACE,
)  # fmt: skip


@pytest.fixture(autouse=True)
async def session(store: Store) -> None:
    await store.sessions.create(Session(id="s", origin="irc", owner=ME))


async def answered(store: Store, *outgoing: Outgoing, state: str = "done", error: str = "") -> None:
    await store.inbox.wait("s", SAID, mode="queue", envelope=FROM, trace=TRACE)
    [waiting] = await store.inbox.waiting("s")
    turn = await store.journal.open_turn(
        "s", SAID, turn_id="t1", holder="x", waited=waiting.id, trace=TRACE, provider="p", model="m"
    )
    used = Usage(input=10, output=2, calls=1, cost=0.5, priced="actual")
    call = ToolCall(id="c1", name="look", arguments={})
    asks = evolve(ANSWER, parts=(call,))
    await store.journal.add_reply(turn, asks, used, "tools", calls=[("p", "m", used, 0.25)])
    await store.journal.start_call(turn, "c1")
    result = ToolResult(call_id="c1", name="look", parts=(Text(text="done"),))
    await store.journal.finish_call(turn, call, result, outcome="ok", seconds=0.125)
    if state == "done":
        await store.journal.add_reply(turn, ANSWER, used, "stop", calls=[("p", "m", used, 0.5)])
    await store.journal.close_turn(turn, state=state, error=error, also=await rows_of(store).outbox.sending(outgoing))


async def paths(store: Store, word: str, owner: Principal, *, everybody: bool = False) -> list[MessageTrace]:
    """As a plugin gets them: with what went out."""
    whose = None if everybody else owner
    found = await rows_of(store).traced.named(word.strip(), whose)
    return [
        evolve(path, outgoing=await sent(context_of(store), path.trace, path.turn_id, whose))
        for path in await store.traces.find(word, owner, everybody=everybody, sent=found)
    ]


async def send(store: Store, **how: str) -> None:
    [row] = await rows_of(store).outbox.due("irc", "bot", 9e12)
    await rows_of(store).outbox.mark_sending(row, "me", [ANSWER], repeated=0, now=1.0)
    if how.get("error"):
        await rows_of(store).outbox.mark_failed(row, "me", how["error"])
    else:
        await rows_of(store).outbox.mark_sent(evolve(row, pieces=(ANSWER,)), "me", ["99"])


async def said(store: Store, word: str = TRACE) -> tuple[bool, str]:
    [path] = await paths(store, word, ME)
    return verdict(path, "hermes")


async def test_every_step_is_there_in_order(store: Store) -> None:
    await answered(store, OUT)
    await send(store)
    [path] = await paths(store, TRACE, ME)
    found = steps(path)
    told_steps = [step.step for step in found]
    assert (told_steps[0], told_steps[-1]) == ("received", "receipt")
    assert Counter(told_steps) == Counter(received=1, turn=1, model=2, tool=1, answer=1, outbox=1, receipt=1)
    told = {step.step: (step.what, step.outcome, step.seconds) for step in found if step.step in ("tool", "received")}
    assert told == {"tool": ("look", "ok", 0.125), "received": ("irc group from Ann", "let in", 0.0)}
    assert {step.seconds for step in found if step.step == "model"} == {0.25, 0.5}
    assert next(step for step in found if step.step == "receipt").what == "99"
    assert verdict(path, "hermes")[0]


@pytest.mark.parametrize("word", [TRACE, "t1", "ev_7", "m%7", "99", "turn:t1", "latest", " t1 "])
async def test_it_is_found_by_whatever_names_it(store: Store, word: str) -> None:
    await answered(store, OUT)
    await send(store)
    assert [path.trace for path in await paths(store, word, ME)] == [TRACE]


@pytest.mark.parametrize("word", ["", "ev%", "m", "ev_", "nonsense", '"', "%", "12345678901234567890123"])
async def test_what_names_nothing_finds_nothing(store: Store, word: str) -> None:
    await answered(store, OUT)
    assert await paths(store, word, ME) == []


async def test_nobody_else_finds_it_but_who_runs_the_house(store: Store) -> None:
    await answered(store, OUT)
    assert await paths(store, TRACE, BEN) == []
    assert await paths(store, "latest", BEN) == []
    [path] = await paths(store, TRACE, BEN, everybody=True)
    assert [row["mine"] for row in path.received] == [False]


async def test_a_word_that_names_two_messages_finds_both(store: Store) -> None:
    await answered(store, OUT)
    await store.inbox.wait("s", SAID, mode="queue", envelope=evolve(FROM, account="other"), trace="1" * 16)
    assert {path.trace for path in await paths(store, "ev_7", ME)} == {TRACE, "1" * 16}


async def test_what_waits_says_that_nobody_works(store: Store) -> None:
    await store.inbox.wait("s", SAID, mode="queue", envelope=FROM, trace=TRACE)
    arrived, words = await said(store)
    assert not arrived
    assert "nobody works in its conversation" in words


async def test_what_waits_behind_a_turn_says_so(store: Store) -> None:
    await store.journal.open_turn("s", SAID, turn_id="t0", holder="x", provider="p", model="m")
    await store.inbox.wait("s", SAID, mode="queue", envelope=FROM, trace=TRACE)
    assert "a turn runs in its conversation, s." in (await said(store))[1]
    assert re.match(r"The turn runs since \d+ s\.", (await said(store, "t0"))[1])


async def test_what_was_given_up_says_so(store: Store) -> None:
    await store.inbox.wait("s", SAID, mode="queue", envelope=FROM, trace=TRACE)
    await store.inbox.drop("s")
    assert "given up" in (await said(store))[1]


async def test_a_failed_turn_says_why(store: Store) -> None:
    await answered(store, state="failed", error="no credit")
    arrived, words = await said(store)
    assert not arrived
    assert words == f"The turn failed: no credit. See `hermes logs --trace {TRACE}`."


async def test_an_answer_that_nobody_sends_says_so(store: Store) -> None:
    await answered(store, OUT)
    assert "waits to be sent to irc" in (await said(store))[1]


async def test_an_answer_on_its_way_says_that_it_may_be_there(store: Store) -> None:
    await answered(store, OUT)
    [row] = await rows_of(store).outbox.due("irc", "bot", 9e12)
    await rows_of(store).outbox.mark_sending(row, "me", [ANSWER], repeated=0, now=1.0)
    assert "no receipt came yet: it may have arrived" in (await said(store))[1]


async def test_an_answer_that_was_refused_says_why(store: Store) -> None:
    await answered(store, OUT)
    await send(store, error="the bot was put out")
    assert await said(store) == (
        False,
        "The answer was not delivered and is given up (the bot was put out). Mend that, then ask again.",
    )


async def test_an_answer_in_a_terminal_needs_no_sending(store: Store) -> None:
    await answered(store)
    assert (await said(store))[0]


async def test_a_turn_from_before_traces_is_found(store: Store) -> None:
    turn = await store.journal.open_turn("s", SAID, turn_id="old", holder="x", envelope=FROM, provider="p", model="m")
    await store.journal.close_turn(turn, state="done")
    [path] = await paths(store, "ev_7", ME)
    assert [turn["id"] for turn in path.turns] == ["old"]
