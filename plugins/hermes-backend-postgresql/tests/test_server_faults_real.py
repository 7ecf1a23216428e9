"""The connection breaks at the n-th statement of a turn, for every n; and the server restarts under it."""

import psycopg
import pytest
from attrs import frozen

from hermes_backend_postgresql.rows import rows_of
from hermes_core import database
from hermes_core.kinds import tool
from hermes_core.testing.bench import Bench
from hermes_core.testing.scripted import Call, Say, ScriptedProvider
from hermes_core.types import Ended, Failed, ToolResult

pytestmark = pytest.mark.real


@frozen
class Words:
    text: str


class Wire:
    """Between Hermes and the server: at the n-th statement something happens to one of them."""

    def __init__(self) -> None:
        self.left, self.before, self.after = 0, None, None

    def cut(self, at: int, *, before=None, after=None) -> None:
        """Call ``before`` the n-th statement leaves, or ``after`` it was run and before its answer comes back."""
        self.left, self.before, self.after = at, before, after

    def execute(self, connection, real, *arguments):
        self.left -= 1
        cut = self.left == 0  # of this statement: another one may be under way
        if cut and self.before:
            self.before(connection)
        result = real(connection, *arguments)
        if cut and self.after:
            self.after(connection)
            raise psycopg.OperationalError("server closed the connection unexpectedly")
        return result


@pytest.fixture
def wire(monkeypatch):
    made, real = Wire(), psycopg.Connection.execute

    def execute(self, *arguments, **options):
        if self.row_factory is not rows_of:
            return real(self, *arguments, **options)
        return made.execute(self, real, *arguments)

    monkeypatch.setattr(psycopg.Connection, "execute", execute)
    return made


class Kernel:
    """A kernel with a tool that counts, and a model that asks for three calls before it answers."""

    def __init__(self, home, url: str) -> None:
        self.effects: list[str] = []
        self.bench = Bench(home)
        self.bench.configure({"store.url": url})
        self.bench.tmp_plugin("hermes_backend_postgresql")

        @tool(touches=lambda _words: ())
        async def note(words: Words) -> str:
            """Note it."""
            self.effects.append(words.text)
            return f"noted {words.text}"

        self.provider = ScriptedProvider()
        self.bench.tmp_plugin(self.provider)
        self.bench.tmp_plugin(note)

    async def turn(self, name: str) -> list:
        calls = [[Call("note", {"text": f"{name} {c}"}, id=f"{name} {c}") for c in batch] for batch in ("ab", "c")]
        self.provider._steps[self.provider._played :] = [*calls, Say(f"answer to {name}")]
        return [event async for event in self.bench.turn(f"hello {name}", session=name)]

    async def check(self, name: str, events: list) -> None:
        """Everything happened once, as if nothing had been in the way."""
        assert [e.text for e in events if isinstance(e, Failed)] == []
        assert isinstance(events[-1], Ended)
        assert events[-1].answer == f"answer to {name}"
        store = await self.bench.runtime.store()
        history = await store.history.load(name)
        assert [m.role for m in history] == ["user", "assistant", "tool", "tool", "assistant", "tool", "assistant"]
        assert len(await store.history.messages(self.bench.runtime.owner, name, window=50)) == 7
        told = sorted(p.call_id for m in history for p in m.parts if isinstance(p, ToolResult))
        assert told == sorted(effect for effect in self.effects if effect.startswith(f"{name} "))
        assert len(told) == len(set(told)) == 3


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_connection_lost_at_any_statement_of_a_turn_is_not_noticed(when, wire, cluster, database_url, tmp_path):
    def kill(connection) -> None:
        cluster.sql(f"SELECT pg_terminate_backend({connection.info.backend_pid}, 5000)")

    kernel = Kernel(tmp_path / "home", database_url)
    async with kernel.bench:
        await kernel.turn("first")
        for at in range(1, 1000):
            wire.cut(at, **{when: kill})
            events = await kernel.turn(f"s{at}")
            through, _ = wire.left > 0, wire.cut(0)
            await kernel.check(f"s{at}", events)
            if through:
                break
    assert at > 60


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_server_that_restarts_in_the_middle_of_a_turn_is_waited_for(when, wire, clusters, tmp_path):
    server = clusters("synchronous_commit=on")
    server.start()

    def restart(_connection) -> None:
        server.stop()
        server.start()

    kernel = Kernel(tmp_path / "home", server.database())
    async with kernel.bench:
        await kernel.turn("first")
        for at in (2, 11, 23, 37, 50, 64):
            wire.cut(at, **{when: restart})
            events = await kernel.turn(f"s{at}")
            assert wire.left <= 0
            await kernel.check(f"s{at}", events)


async def test_a_server_that_stays_away_is_told_and_the_session_goes_on_later(clusters, tmp_path, monkeypatch):
    server = clusters("synchronous_commit=on")
    server.start()
    kernel = Kernel(tmp_path / "home", server.database())
    async with kernel.bench:
        await kernel.turn("first")
        monkeypatch.setattr(database, "PATIENCE", 0.2)
        server.stop()
        events = await kernel.turn("second")
        assert [e.reason for e in events if isinstance(e, Ended)] == ["failed"]
        assert any("cannot be reached" in e.text for e in events if isinstance(e, Failed))
        server.start()
        monkeypatch.undo()
        await kernel.check("third", await kernel.turn("third"))
