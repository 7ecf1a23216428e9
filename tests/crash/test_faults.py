"""The n-th statement of a turn fails, for every n: what was acknowledged is there, and the session goes on."""

import sqlite3

import pytest
from attrs import frozen

from hermes_core.kinds import tool
from hermes_core.store import file_database
from hermes_core.testing import Call, Say
from hermes_core.testing.bench import Bench
from hermes_core.testing.scripted import ScriptedProvider
from hermes_core.types import Called, Ended, Failed, Returned, Said, Text, ToolResult

pytestmark = pytest.mark.long


@frozen
class Words:
    text: str


class Failing:
    """A connection whose n-th statement, or each from then on, fails as on a bad disk; 0: none does."""

    left, lasts = 0, False

    def __init__(self, connection: sqlite3.Connection) -> None:
        object.__setattr__(self, "connection", connection)

    def __getattr__(self, name: str):
        return getattr(self.connection, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self.connection, name, value)

    def execute(self, *arguments: object):
        Failing.left -= 1
        if Failing.left == 0 or (Failing.lasts and Failing.left < 0):
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR
            raise error
        return self.connection.execute(*arguments)


@pytest.fixture
def disk(monkeypatch):
    """The disk: ``disk(n)`` makes the n-th statement from now on fail; and all after it when it ``lasts``."""
    connect = sqlite3.connect
    monkeypatch.setattr(file_database.sqlite3, "connect", lambda *args, **options: Failing(connect(*args, **options)))

    def fail(at: int, *, lasts: bool = False) -> None:
        Failing.left, Failing.lasts = at, lasts

    yield fail
    fail(0)


class Kernel:
    """A kernel with a tool that counts, and a model that asks for three calls before it answers."""

    def __init__(self, home) -> None:
        self.effects: list[str] = []
        self.bench = Bench(home)

        @tool(touches=lambda _words: ())
        async def note(words: Words) -> str:
            """Note it."""
            self.effects.append(words.text)
            return f"noted {words.text}"

        self.provider = ScriptedProvider()
        self.bench.tmp_plugin(self.provider)
        self.bench.tmp_plugin(note)

    async def turn(self, text: str) -> list:
        calls = [[Call("note", {"text": f"{text} {c}"}, id=f"{text} {c}") for c in batch] for batch in ("ab", "c")]
        self.provider._steps[self.provider._played :] = [*calls, Say(f"answer to {text}")]
        return [event async for event in self.bench.turn(text, session="s")]

    async def history(self) -> list:
        return await (await self.bench.runtime.store()).history.load("s")


async def check(kernel: Kernel, events: list) -> None:
    """Every acknowledged row is there, and the next message is answered."""
    history = await kernel.history()
    texts = "\n".join(p.text for m in history for p in m.parts if isinstance(p, Text))
    calls = {getattr(p, "id", "") for m in history for p in m.parts}
    results = {p.call_id: p for m in history for p in m.parts if isinstance(p, ToolResult)}
    for event in events:
        if isinstance(event, Called):
            assert event.call.id in calls
        elif isinstance(event, Returned):
            assert results[event.call.id] == event.result
        elif isinstance(event, Ended):
            assert event.answer in texts
    again = await kernel.turn("again")
    assert [e.text for e in again if isinstance(e, Failed)] == []
    assert again[-1].answer == "answer to again"
    history = await kernel.history()
    roles = [m.role for m in history]
    assert roles[-6:] == ["user", "assistant", "tool", "tool", "assistant", "tool", "assistant"][-6:]
    assert len(kernel.effects) == len(set(kernel.effects))
    made = [getattr(p, "id", None) for m in history for p in m.parts if hasattr(p, "arguments")]
    told = [p.call_id for m in history for p in m.parts if isinstance(p, ToolResult)]
    assert sorted(made) == sorted(told)


@pytest.mark.parametrize("earlier", [0, 1], ids=["the first turn", "a later turn"])
async def test_a_fault_at_any_statement_of_a_turn_loses_nothing_that_was_acknowledged(
    disk, tmp_path, earlier, pytestconfig
):
    failures = kernels = 0
    for at in range(1, 1000, pytestconfig.getoption("--every")):
        kernels += 1
        kernel = Kernel(tmp_path / str(at) / "home")
        async with kernel.bench:
            for number in range(earlier):
                await kernel.turn(f"earlier {number}")
            disk(at)
            events = await kernel.turn("hello")
            through = Failing.left > 0
            disk(0)
            assert isinstance(events[-1], Ended)
            assert (events[-1].reason == "failed") == any(isinstance(e, Failed) for e in events)
            failures += events[-1].reason == "failed"
            if through:
                assert "".join(e.text for e in events if isinstance(e, Said)) == "answer to hello"
                break
            await check(kernel, events)
    assert at > 60
    assert failures >= kernels - 3, "a fault is told; but those after which nothing is left to do"


@pytest.mark.parametrize("at", [1, *range(5, 85, 5)])
async def test_a_disk_that_fails_for_a_while_leaves_a_session_that_goes_on(disk, tmp_path, at):
    kernel = Kernel(tmp_path / "home")
    async with kernel.bench:
        await kernel.turn("earlier")
        disk(at, lasts=True)
        events = await kernel.turn("hello")
        for first in (1, 5):  # nothing can be read; nothing can be written
            disk(first, lasts=True)
            assert (await kernel.turn("still broken"))[-1].reason == "failed"
        disk(0)
        await check(kernel, events)
