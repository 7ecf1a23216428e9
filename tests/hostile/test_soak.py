"""A process that lives long holds no more than one that lives short. ``benchmarks/soak.py`` is the long run."""

import asyncio
import gc
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from hermes_core.agent.session_state import SessionState
from hermes_core.hooks import hookimpl
from hermes_core.kinds import tool
from hermes_core.testing import Call, ScriptedProvider
from hermes_core.types import ExecRequest, Request

pytestmark = pytest.mark.long

KEPT = 8  # resting sessions a process keeps at hand
SESSIONS = KEPT + 4


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Sessions are let go of early: the same happens, without hundreds of turns before it."""
    monkeypatch.setattr("hermes_core.agent.session_state._KEPT", KEPT)


def held() -> dict[str, set[object]]:
    """What this process holds that could leak."""
    gc.collect()
    children = [(task / "children").read_text().split() for task in Path("/proc/self/task").iterdir()]
    return {
        "descriptors": set(descriptors()),
        "threads": {t for t in threading.enumerate() if not t.name.startswith("asyncio_")},  # its pool is bounded
        "tasks": set(asyncio.all_tasks()),
        "children": {child for found in children for child in found},
    }


def more_than(others: dict[str, set[object]]) -> dict[str, int]:
    """How much of each there is besides; what earlier tests left may go meanwhile."""
    return {kind: len(found - others[kind]) for kind, found in held().items()}


def descriptors() -> Iterator[tuple[str, str]]:
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the one that lists them
            yield entry.name, str(entry.readlink())


@tool(touches=lambda _: ())
async def big() -> str:
    """Be too long for a model."""
    return "x" * 200_000


def endless() -> ScriptedProvider:
    """A model that calls tools in every turn, for ever."""

    def step(request: Request):
        last = request.messages[-1]
        if last.role == "tool":
            return "done"
        return [Call("terminal", {"command": f"echo {len(request.messages)}"}), Call("big")]

    return ScriptedProvider([step] * 10_000)


def prepared(hermes, tmp_path, *hooks) -> ScriptedProvider:
    model = endless()
    hermes.tmp_plugin(model)
    hermes.tmp_plugin(big, *hooks)
    hermes.tmp_plugin("hermes_tool_terminal")
    hermes.tmp_plugin("hermes_backend_local")
    hermes.configure({"terminal.backend": "local", "terminal.cwd": str(tmp_path), "policy.mode": "off"})
    return model


def lives(*, but: Iterable[int] = ()) -> list[int]:
    """The sessions that are in memory, by where they are."""
    gc.collect()
    return [id(o) for o in gc.get_objects() if isinstance(o, SessionState) and id(o) not in but]


async def test_many_turns_leave_nothing_behind(hermes, tmp_path):
    prepared(hermes, tmp_path)
    others, sessions = held(), frozenset(lives())  # what earlier tests of this process left
    for turn in range(SESSIONS):
        await hermes.run("go", session=f"s{turn}")
    before = more_than(others)
    for turn in range(2 * SESSIONS):
        await hermes.run("go", session=f"s{turn % SESSIONS}")
    assert more_than(others) == before
    assert len(lives(but=sessions)) <= KEPT + 1
    await hermes.runtime.close()


async def test_a_session_that_was_let_go_goes_on_with_the_same_bytes(hermes, tmp_path):
    told = []

    @hookimpl
    async def on_session_start(session) -> None:
        told.append(("start", session.id))

    @hookimpl
    async def on_session_end(session, end) -> None:
        told.append(("end", session.id))

    model = prepared(hermes, tmp_path, on_session_start, on_session_end)
    await hermes.run("first", session="long")
    first = model.requests[-1]
    for number in range(KEPT + 5):
        await hermes.run("go", session=f"other{number}")
    assert ("end", "long") in told
    await hermes.run("second", session="long")
    again = next(r for r in reversed(model.requests) if len(r.messages) > len(first.messages))
    assert again.messages[: len(first.messages)] == first.messages
    assert again.tools == first.tools
    assert told.count(("start", "long")) == 2


async def test_what_runs_in_the_background_is_not_ended_for_resting(hermes, tmp_path):
    prepared(hermes, tmp_path)
    await hermes.run("go", session="busy")
    workspace = hermes.runtime.sessions._open["busy"].workspace
    process = await workspace.start(ExecRequest(argv=("sleep", "1000")))
    for number in range(KEPT + 5):
        await hermes.run("go", session=f"other{number}")
    assert await process.poll() is None
    await hermes.close()
    assert await process.poll() is not None
