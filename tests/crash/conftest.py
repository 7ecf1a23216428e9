"""A stage on which turns are played and killed, and the judge of what is left."""

import asyncio
import json
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from workers import Worker

sys.path.insert(0, str(Path(__file__).parent))  # what kills statement by statement lies beside the tests

from hermes_backend_postgresql.driver import PostgreSQL
from hermes_backend_postgresql.server import Server
from hermes_core.store.store import open_store
from hermes_core.store.validity import INTERRUPTED, NOT_RUN
from hermes_core.types import Principal, Text, ToolCall, ToolResult

ME = Principal()
WORKER = Path(__file__).with_name("worker.py")
BATCHES = {0: [], 1: [1], 3: [2, 1]}  # number of calls -> sizes of their batches


def pytest_generate_tests(metafunc) -> None:
    if "turn" in metafunc.fixturenames:
        metafunc.parametrize("turn", range(metafunc.config.getoption("rounds")))


class Stage:
    """One home, one file of truth, and what is played there; ``url`` when the store is on a server."""

    def __init__(self, worker: Worker, folder: Path, url: str = "") -> None:
        folder.mkdir()
        self.url = url
        self._worker, self.home, self.truth_file = worker, folder / "home", folder / "truth"
        self.said: dict[str, str] = {}
        self.compacts = self.goes_on = self.appends = False
        self.calls = 0  # of a model that a session may make; 0: as many as it likes

    def play(self, die_at: str = "", **order) -> bool:
        """Play an order in a process of its own; whether it was killed."""
        hooks = {"compacts": self.compacts, "goes_on": self.goes_on, "appends": self.appends}
        usual = {"resume": False, "patient": False, "person": "", "calls": self.calls, **hooks, "url": self.url}
        wanted = {**usual, "die_at": die_at, **order}
        status = self._worker.play({"home": str(self.home), "truth": str(self.truth_file), **wanted})
        assert status in ((0, -9) if die_at or wanted["person"] == "dies" else (0,))
        return status == -9

    def say(self, text: str, die_at: str = "", *, patient: bool = False, **more: str) -> bool:
        """A person says something; the platform delivers it until it is acknowledged."""
        self.said[text] = f"event of {text}"
        return self.play(die_at, say=text, event=self.said[text], patient=patient, **more)

    def restart(self, die_at: str = "") -> bool:
        """What happens after a death: interrupted turns are finished, and what was not acknowledged comes again."""
        if self.play(die_at, resume=True):
            return True
        acked = {event for what, event, *_ in self.truth if what == "ack"}
        return any(self.say(text) for text, event in self.said.items() if event not in acked)

    @property
    def truth(self) -> list[list]:
        """What really happened, in order."""
        return [json.loads(line) for line in self.truth_file.read_text().splitlines()] if self.said else []

    def read(self, look):
        """What the store says: ``look`` is given the open store."""
        store = open_store(self.home / "state.db", url=self.url, driver=PostgreSQL())
        try:
            return asyncio.run(look(store))
        finally:
            store.close()

    def finished(self) -> tuple[int, int, set[str]]:
        """What must not happen again: events so far, replies stored, calls with a result."""

        async def look(store):
            if not await store.sessions.list(ME):
                return 0, set()
            rows = [m for _, m in await store.history.messages(ME, "s", window=1000)]
            done = {p.call_id for m in rows for p in m.parts if isinstance(p, ToolResult)}
            return sum(m.role == "assistant" for m in rows), done

        return len(self.truth), *self.read(look)

    def judge(self, text: str, deaths: list[tuple[int, int, set[str]]]) -> None:
        """Nothing lost, nothing twice, everything valid, the answer there."""
        rows, history, calls, session, left = self.read(_whole)
        batches = BATCHES[int(text.rsplit(maxsplit=1)[-1])]
        truth, effects = self.truth, Counter(at for what, at, *_ in self.truth if what == "effect")

        assert [m.parts[0].text for m in rows if m.role == "user"] == [text]
        replies = [m for m in rows if m.role == "assistant"]
        assert [len([p for p in m.parts if isinstance(p, ToolCall)]) for m in replies] == [*batches, 0]
        assert replies[-1].parts == (Text(text=f"the answer to {text}"),)
        made = [p.id for m in replies for p in m.parts if isinstance(p, ToolCall)]
        results = [p for m in rows if m.role == "tool" for p in m.parts]
        assert sorted(r.call_id for r in results) == sorted(made)
        assert len(history) == len(rows), "nothing had to be mended for the reader"
        check_valid(history)
        assert not [r for r in results if r.parts[0].text in (INTERRUPTED, NOT_RUN)]

        for call in calls:
            happened = effects[call.arguments["at"]]
            if call.name == "look":
                assert (call.outcome, happened >= 1) == ("ok", True)
            else:
                assert (call.outcome, happened) in (("ok", 1), ("unknown", 0), ("unknown", 1))
        for before, stored, done in deaths:
            later = truth[before:]
            assert not [e for e in later if e[0] == "resumed request" and e[2] < stored], (
                "a stored reply was asked for again"
            )
            assert not [e for e in later if e[0] == "effect" and e[1].split()[-1] in done], "a stored call ran again"
        assert [e[1] for e in truth if e[0] == "answer"] == [f"the answer to {text}"]
        assert {e[1] for e in truth if e[0] == "failed"} <= {"duplicate"}
        assert (session.state, left, session.usage.calls) == ("idle", [], len(batches) + 1)

    def judge_compacted(self, text: str) -> None:
        """The turn that compacted the past is whole, and each request since begins like the one before."""
        history, whole, calls = self.read(_told)
        check_valid(history)
        assert [m.parts[0].text for m in history if m.role == "user"] == ["so far", text]
        assert history[2:] == whole[4:], "nothing of the turn was lost or made twice"
        assert (history[-1].parts[0].text, len(calls)) == (f"the answer to {text}", 3)
        assert [e[1] for e in self.truth if e[0] == "answer"][2:] == [f"the answer to {text}"]
        told = [e[1] for e in self.truth if e[0] == "told" and "so far" in e[1][0]]
        assert told
        assert all(later[: len(earlier)] == earlier for earlier, later in pairwise(told))


async def _told(store):
    history, whole = await store.history.load("s"), await store.history.load("s", whole=True)
    return history, whole, await store.history.tool_calls(ME, session_id="s", limit=10)


async def _whole(store):
    rows = [m for _, m in await store.history.messages(ME, "s", window=1000)]
    [session] = await store.sessions.list(ME)
    if isinstance(store.database, Server):
        lost = "SELECT 1 FROM messages LEFT JOIN search ON rowid = messages.id WHERE rowid IS NULL"
        assert store.database.transact(lambda tx: tx.connection.execute(lost).fetchall()) == []
    else:
        assert store.database.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    calls = await store.history.tool_calls(ME, session_id="s")
    return rows, await store.history.load("s"), calls, session, await store.journal.interrupted(ME)


def check_valid(history) -> None:
    """Roles alternate; each call has one result, right after its reply."""
    waiting: list[str] = []
    before = "assistant"
    for message in history:
        if message.role == "tool":
            [part] = message.parts
            assert part.call_id == waiting.pop(0)
            before = "tool"
            continue
        assert not waiting
        assert (message.role == "user") == (before == "assistant")
        before = message.role
        waiting = [p.id for p in message.parts if isinstance(p, ToolCall)]
    assert not waiting


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.real)])
def kept_in(request):
    """Where the store is; most tests here run with both."""
    return request.param


@pytest.fixture
def stages(workers, tmp_path, kept_in, request):
    """Make stages, each in a home of its own; on a server, tables are emptied for each, or not made at all."""
    made: list[Stage] = []
    server = request.getfixturevalue("cluster") if kept_in == "postgresql" else None
    urls = [request.getfixturevalue("database_url")] if server else []

    def make(*, empty: bool = False) -> Stage:
        url = ""
        if server and empty:
            urls.append(url := server.database())
        elif server:
            url = urls[0]
            server.empty(url)
        made.append(Stage(workers(WORKER), tmp_path / str(len(made)), url))
        return made[-1]

    yield make
    for url in urls[1:]:
        server.drop(url)
