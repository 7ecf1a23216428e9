"""Which Python a script is given to, and what becomes of one that none will have."""

import asyncio
import contextlib
import os
import signal
from pathlib import Path

import pytest

from hermes_core.errors import ToolError
from hermes_core.types import Blob, ToolResult
from hermes_tool_python import choice
from hermes_tool_python.calling import Calls
from hermes_tool_python.choice import suits
from hermes_tool_python.notes import Note


@pytest.mark.parametrize(
    "code",
    [
        "import json, math\nprint(json.dumps([math.pi]))",
        "from hermes_tools import read_file, call_many, show\nshow(read_file('x'))",
        "class A:\n    def f(self): return 1\nA().f()",
        "[x for x in range(3)]",
    ],
)
def test_what_needs_no_more_suits_the_small_one(code):
    assert suits(code)


@pytest.mark.parametrize(
    "code",
    [
        "import os",
        "import pandas as pd",
        "from . import x",
        "from json import *",
        "from hermes_tools import ToolError",
        "open('x')",
        "def f():\n    yield 1",
        "class A(dict): pass",
        "with x: pass",
        "del x",
        "eval('1')",
        "a b",
        "\0",
        "(" * 500 + ")" * 500,
    ],
)
def test_what_needs_more_does_not(code):
    assert not suits(code)


async def test_where_the_small_one_cannot_start_the_whole_one_runs_and_is_told_by_name(make, monkeypatch):
    bench = make(mode="auto")
    from hermes_tool_python import fast

    async def fails(self):
        raise ToolError("no wall can be made")

    monkeypatch.setattr(fast.Fast, "start", fails)
    assert await bench.call("6 * 7") == "→ 42"
    assert await make(mode="fast").call("6 * 7") == "no wall can be made"


async def test_where_the_small_one_is_not_installed_it_says_how(make, monkeypatch):
    bench = make(mode="full")
    from hermes_tool_python import fast

    monkeypatch.setattr(fast, "why_not", lambda: "pydantic-monty is not installed")
    with pytest.raises(ToolError, match="cannot be used: pydantic-monty is not installed"):
        await fast.Fast(bench.ctx.paths.data, bench.ctx.config).start()


def test_what_is_missing_is_named(monkeypatch):
    for name, wanted in (("program", "is not installed"), ("likely", "bubblewrap")):
        choice.why_not.cache_clear()
        if name == "program":
            monkeypatch.setattr(choice, "program", lambda: "")
        else:
            monkeypatch.setattr(choice, "program", lambda: "/bin/monty")
            monkeypatch.setattr("importlib.util.find_spec", lambda _: True)
            monkeypatch.setattr("hermes_backend_wall.bwrap.likely", lambda: False)
        assert wanted in choice.why_not()
    choice.why_not.cache_clear()


async def test_a_small_python_that_is_killed_is_told_and_another_comes(make):
    bench = make(mode="fast")
    await bench.call("x = 1", keep=True)
    running = bench.context.opened["interpreter"]
    os.kill(running._pid, signal.SIGKILL)
    while marked(running.mark):
        await asyncio.sleep(0.01)
    assert "its process ended" in await bench.call("x", keep=True)
    assert "NameError" in await bench.call("x", keep=True)


@pytest.mark.parametrize(
    ("mode", "missing", "level", "text"),
    [
        ("full", "", "ok", "not used"),
        ("auto", "", "ok", "runs, behind a wall of its own"),
        ("auto", "it is not installed", "ok", "not there: it is not installed"),
        ("fast", "it is not installed", "fault", "not there: it is not installed"),
    ],
)
async def test_doctor_says_whether_the_small_one_runs(make, monkeypatch, mode, missing, level, text):
    import hermes_tool_python
    from hermes_tool_python import checks

    if mode == "auto" and not missing:
        make(mode="fast")  # or there is none here
    else:
        monkeypatch.setattr(checks, "why_not", lambda: missing)
    (check,) = hermes_tool_python.register_checks(make(mode=mode).ctx)
    (finding,) = await check.run()
    assert (finding.level, text in finding.text) == (level, True)


async def test_doctor_tells_a_small_one_that_does_not_start(make, monkeypatch):
    from hermes_tool_python import checks, fast

    async def fails(self):
        raise ToolError("no wall can be made")

    monkeypatch.setattr(checks, "why_not", str)
    monkeypatch.setattr(fast.Fast, "start", fails)
    for mode, level in (("auto", "warning"), ("fast", "fault")):
        (check,) = checks.checks(make(mode="full").ctx.paths.data, checks.Config(mode=mode))
        (finding,) = await check.run()
        assert (finding.level, finding.text) == (level, "no wall can be made")


async def test_odd_calls_are_answered_and_never_raise(full):
    note = Note(full.ctx.paths.data, full.context.session, "odd")
    calls = Calls(full.context, 3, note)
    found = await calls.make([7, ("read_file",), (1, {}), ("read_file", [1]), ("execute_code", {}), ("read_file", {})])
    assert [failed for _, failed in found] == [True] * 5 + [False]
    assert calls.made == 1
    full.answers["web_fetch"] = ToolResult(call_id="", name="", parts=(Blob(media_type="image/png", path="/x.png"),))
    assert await calls.make([("web_fetch", {})]) == [("[image/png: /x.png]", False)]

    async def beyond(name, arguments):
        raise ToolError("200 calls by tools are the most")

    full.context.call = beyond
    assert await calls.make([("read_file", {})]) == [("200 calls by tools are the most", True)]


def marked(mark: str) -> bool:
    """Whether a process bears a mark."""
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark.encode() in path.read_bytes():
                return True
    return False
