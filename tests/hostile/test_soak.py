"""A process that lives long holds no more than one that lives short. ``benchmarks/soak.py`` is the long run."""

import asyncio
import gc
import threading
from pathlib import Path

from hermes_core.agent.live import _KEPT, Live
from hermes_core.hooks import hookimpl
from hermes_core.kinds import tool
from hermes_core.testing import Call, ScriptedProvider
from hermes_core.types import ExecRequest, Request

SESSIONS = _KEPT + 30


def held() -> dict[str, int]:
    """What this process holds that could leak."""
    gc.collect()
    children = [(task / "children").read_text().split() for task in Path("/proc/self/task").iterdir()]
    threads = [t for t in threading.enumerate() if not t.name.startswith("asyncio_")]  # the loop's pool is bounded
    return {
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "threads": len(threads),
        "tasks": len(asyncio.all_tasks()),
        "children": sum(map(len, children)),
    }


@tool(touches=lambda _: ())
async def big() -> str:
    """Be long."""
    return "x" * 2_000_000


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


def lives() -> int:
    gc.collect()
    return sum(isinstance(o, Live) for o in gc.get_objects())


async def test_many_turns_leave_nothing_behind(hermes, tmp_path):
    prepared(hermes, tmp_path)
    others = lives()  # what earlier tests of this process left
    for turn in range(SESSIONS):
        await hermes.run("go", session=f"s{turn}")
    before = held()
    for turn in range(2 * SESSIONS):
        await hermes.run("go", session=f"s{turn % SESSIONS}")
    assert held() == before
    assert lives() <= others + _KEPT + 1
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
    for number in range(_KEPT + 5):
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
    workspace = hermes.runtime.sessions._live["busy"].workspace
    process = await workspace.start(ExecRequest(argv=("sleep", "1000")))
    for number in range(_KEPT + 5):
        await hermes.run("go", session=f"other{number}")
    assert await process.poll() is None
    await hermes.close()
    assert await process.poll() is not None
