"""Whatever happened to the rows, every provider accepts the history."""

import asyncio
from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_core.store import leases
from hermes_core.store.leases import Turn
from hermes_core.store.store import Store
from hermes_core.store.validity import valid
from hermes_core.types import Message, Part, Principal, Session, Text, ToolCall, ToolResult, Usage

ID = "20260101_000000_aaaaaa"
ME = Principal()
ids = st.sampled_from(["a", "b", "c"])
parts = (
    st.builds(Text, text=st.sampled_from(["x", ""]))
    | st.builds(ToolCall, id=ids, name=st.just("ls"), arguments=st.just({}))
    | st.builds(ToolResult, call_id=ids, name=st.just("ls"), parts=st.just((Text(text="r"),)))
)
loose = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    parts=st.lists(parts, max_size=3).map(tuple),
)


def check(history: list[Message]) -> None:
    """The rules all dialects share."""
    waiting: list[str] = []
    turn = "user"
    for message in history:
        assert message.parts
        if message.role == "tool":
            [part] = message.parts
            assert isinstance(part, ToolResult)
            assert part.call_id == waiting.pop(0)
            continue
        assert waiting == []
        assert message.role == turn
        calls = [part.id for part in message.parts if isinstance(part, ToolCall)]
        assert len(calls) == len(set(calls))
        assert not calls or message.role == "assistant"
        waiting = list(calls)
        turn = "assistant" if message.role == "user" or calls else "user"
    assert waiting == []


@given(st.lists(loose, max_size=12))
def test_any_rows_make_a_valid_history(messages: list[Message]) -> None:
    check(valid(messages))


@given(st.lists(loose, max_size=12))
def test_a_valid_history_is_left_as_it_is(messages: list[Message]) -> None:
    once = valid(messages)
    assert valid(once) == once


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["open", "reply", "calls", "start", "finish", "close", "cut", "import"]), st.integers(0, 3)
    ),
    max_size=25,
)


class Worker:
    """Does the steps of turns in any order, as an agent that may die anywhere would."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.turn: Turn | None = None
        self.pending: list[ToolCall] = []
        self.number = 0
        self.written: list[tuple[int, Message]] = []

    async def step(self, action: str, choice: int) -> None:
        self.number += 1
        if action == "import":
            message = Message(role="user" if choice % 2 else "assistant", parts=(Text(text="old"),))
            await self.store.history.add(ID, message)
        elif action == "open" and self.turn is None:
            said = Message(role="user", parts=(Text(text=f"u{self.number}"),))
            self.turn = await self.store.journal.open_turn(
                ID, said, turn_id=f"t{self.number}", holder="w", provider="", model=""
            )
            self.pending = []
        elif self.turn is not None:
            await self.in_turn(self.turn, action, choice)

    async def in_turn(self, turn: Turn, action: str, choice: int) -> None:
        if action in ("reply", "calls"):
            made: list[Part] = [Text(text="a")]
            if action == "calls":
                self.pending = [ToolCall(id=f"c{n}", name="ls", arguments={}) for n in range(choice + 1)]
                made += self.pending
            await self.store.journal.add_reply(turn, Message(role="assistant", parts=tuple(made)), Usage(), "stop")
        elif action in ("start", "finish") and choice < len(self.pending):
            call = self.pending[choice]
            entries = [e for e in await self.store.history.tool_calls(ME) if e.call_id == call.id]
            if action == "start" and entries[0].outcome == "pending":
                await self.store.journal.start_call(turn, call.id)
            elif action == "finish" and entries[0].outcome in ("pending", "started"):
                result = ToolResult(call_id=call.id, name="ls", parts=(Text(text="r"),))
                await self.store.journal.finish_call(turn, call, result, outcome="ok", seconds=0)
        elif action == "close":
            await self.store.journal.close_turn(turn, state="done")
            self.turn = None
        elif action == "cut":
            self.turn = None  # nothing more is heard of it, but its lease is still there


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_any_sequence_of_steps_and_cuts_leaves_a_valid_history(
    store: Store, sql: Callable[[str], object], steps: list[tuple[str, int]]
) -> None:
    async def run() -> None:
        await store.sessions.create(Session(id=ID, origin="cli"))
        worker = Worker(store)
        rows: list[tuple[int, Message]] = []
        try:
            for action, choice in steps:
                if worker.turn is None and action == "open":  # let the lease of a worker that was cut run out
                    sql(f"UPDATE leases SET beat = beat - {leases.LIFE * 2}")
                await worker.step(action, choice)
                check(await store.history.load(ID))
                now = await store.history.messages(ME, ID, window=1000)
                assert now[: len(rows)] == rows, "rows are only ever added"
                rows = now
        finally:
            sql("DELETE FROM leases")
            await store.sessions.delete(ID, ME)

    asyncio.run(run())
