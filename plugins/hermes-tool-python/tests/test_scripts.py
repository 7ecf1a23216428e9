"""What scripts may do and what comes of them, in each Python."""

import asyncio

import pytest

from hermes_core.errors import ToolError
from hermes_core.types import Blob, Text, ToolResult


async def test_a_script_calls_tools_and_their_texts_come_to_it(bench):
    code = "from hermes_tools import read_file\nprint(len(read_file('a.txt', limit=3)))\n'the end'"
    assert await bench.call(code) == "10\n→ the end"
    (call,) = bench.context.called
    assert (call.name, dict(call.arguments)) == ("read_file", {"path": "a.txt", "limit": 3})


async def test_many_calls_in_one_go_give_texts_and_errors(bench):
    bench.answers["web_fetch"] = ToolError("no such page")
    code = (
        "from hermes_tools import call_many\n"
        "found = call_many([('read_file', {'path': str(i)}) for i in range(3)] + [('web_fetch', {})])\n"
        "[str(f) for f in found]"
    )
    assert await bench.call(code) == "→ ['text of it', 'text of it', 'text of it', 'no such page']"
    assert [c.arguments.get("path") for c in bench.context.called] == ["0", "1", "2", None]


async def test_an_error_of_a_tool_can_be_caught_and_else_ends_the_script(bench):
    bench.answers["read_file"] = ToolError("there is no such file")
    caught = (
        "from hermes_tools import read_file\ntry:\n    read_file('x')\nexcept Exception as e:\n    print('caught', e)"
    )
    assert await bench.call(caught) == "caught there is no such file"
    said = await bench.call("from hermes_tools import read_file\nread_file('x')\nprint('not reached')")
    assert "there is no such file" in said
    assert "line 2" in said
    assert said.endswith("It made 1 call of tools before; what they did stays done.")


async def test_the_call_above_the_limit_is_refused(bench):
    code = "from hermes_tools import read_file\nfor i in range(99):\n    read_file(str(i))"
    said = await bench.call(code)
    assert "50 calls are the most of one script" in said
    assert len(bench.context.called) == 50


async def test_what_a_call_brings_from_outside_is_no_failure_that_goes_unfenced(bench):
    part = Text(text="a page")
    bench.answers["web_fetch"] = ToolResult(call_id="", name="", parts=(part,), untrusted=True)
    code = "from hermes_tools import web_fetch\nprint(web_fetch('u'))\n1 / 0"
    said = await bench.call(code)
    assert said.startswith("a page\n")
    assert "ZeroDivisionError" in said
    assert not bench.failed, "a failure is told without the fence that goes around what comes from outside"
    bench.answers["web_fetch"] = "words of our own"
    assert "ZeroDivisionError" in await bench.call(code)
    assert bench.failed


async def test_there_is_no_script_in_a_script(bench):
    said = await bench.call("from hermes_tools import call_many\ncall_many([('execute_code', {'code': '1'})])")
    assert "no tool named 'execute_code'" in said or "was not called" in said
    assert not bench.context.called


async def test_variables_stay_only_where_that_is_wished(bench):
    assert await bench.call("x = 41", keep=True) == "(no output)"
    assert await bench.call("x + 1", keep=True) == "→ 42"
    assert "NameError" in await bench.call("x")
    assert await bench.call("x", keep=True) == "→ 41"
    code = "from hermes_tools import read_file\nread_file(path='b')"
    assert await bench.call(code, keep=True) == "→ text of it"
    assert await bench.call(code, keep=True) == "→ text of it"
    described = [one.describe(bench.context.opened[name]) for name, one in bench.context.resources.items()]
    assert described == ["Python with its variables, 5 scripts"]


@pytest.mark.long
async def test_an_endless_loop_ends_with_its_time(make, bench):
    mode = bench.ctx.config.mode
    short = make(mode=mode, seconds=1)
    said = await short.call("print('begun')\nwhile True:\n    pass")
    assert said.startswith("begun\n")
    assert "did not end within 1 s" in said


@pytest.mark.long
async def test_what_tools_take_is_not_the_time_of_the_script(make, bench):
    short = make(mode=bench.ctx.config.mode, seconds=1)

    async def slow(name, arguments):
        await asyncio.sleep(1.2)
        return ToolResult(call_id="", name=name, parts=(Text(text="at last"),))

    short.context.call = slow
    assert await short.call("from hermes_tools import read_file\nread_file('x')") == "→ at last"


async def test_a_cancelled_script_is_over_and_so_are_its_calls(bench):
    asked = asyncio.Event()

    async def waits(name, arguments):
        asked.set()
        await asyncio.Event().wait()

    bench.context.call = waits
    running = asyncio.ensure_future(bench.call("from hermes_tools import read_file\nread_file('x')"))
    await asked.wait()
    running.cancel()
    await asyncio.wait([running], timeout=20)
    assert running.cancelled()


async def test_what_is_no_script_is_told(bench):
    assert "The script is empty" in await bench.call(" \n")
    assert "SyntaxError" in await bench.call("print('a') if")
    assert "the most" in await bench.call("#" * 300_000)
    assert "lone surrogates" in await bench.call("'\ud800'")


async def test_tables_are_shown_as_text(bench):
    said = await bench.call("show([{'a': 1, 'b': 'xx'}, {'a': 22}])\nshow('plain')")
    assert said == "a   b\n1   xx\n22\nplain"


async def test_of_much_output_the_beginning_and_the_end_are_kept(bench):
    said = await bench.call("print('first')\nprint('x' * 20_000_000)\nprint('last')")
    assert said.startswith("first\n")
    assert said.endswith("last")
    assert "bytes left out" in said
    assert len(said) < 60_000


async def test_a_script_without_need_of_files_runs_in_the_small_python_and_others_in_the_whole(make):
    bench = make(mode="auto", seconds=20)
    assert "AttributeError" in await make(mode="fast").call("import os\nos.getppid()")
    assert await bench.call("import os\nos.getppid() > 0") == "→ True"
    assert await bench.call("class A:\n    pass\nclass B(A):\n    pass\nB.__name__") == "→ B"
    # What it does not know shows only when it runs; nothing was done by then.
    assert (
        await bench.call("import math\nmath.nextafter(1.0, 2.0) > 1 and 'x'.isidentifier() and int.__name__") == "→ int"
    )


async def test_what_moves_a_cursor_reaches_nobody(bench):
    said = await bench.call("print('\\x1b[31mred\\x1b[0m \\x07bell')\nprint('\\x1b]0;title\\x07a')")
    assert said == "red bell\na"
    assert "".join(bench.context.shown).split() == ["red", "bell", "a"]


async def test_images_that_are_shown_come_as_blobs(full):
    png = "b'\\x89PNG\\r\\n\\x1a\\n' + b'0' * 20"
    said = await full.call(f"open('a.png', 'wb').write({png})\nshow('a.png')\nshow({png})\nprint('shown')")
    assert said == "shown"
    assert [(b.media_type, len(b.data), b.name) for b in full.images] == [
        ("image/png", 28, "shown-1.png"),
        ("image/png", 28, "shown-2.png"),
    ]
    assert all(isinstance(image, Blob) for image in full.images)
    assert "takes PNG" in await full.call("show(b'no image')")
    assert "8 images are the most" in await full.call(f"for _ in range(9): show({png})")


async def test_a_drawing_is_shown_without_a_word(full):
    """With what plotting libraries look like, as none is installed here."""
    code = """
import sys, types
class Figure:
    def savefig(self, file, **how): file.write(b'\\x89PNG\\r\\n\\x1a\\n' + b'1' * 9)
plots = types.ModuleType('matplotlib.pyplot')
plots.get_fignums, plots.figure, plots.close = lambda: [1, 2], lambda n: Figure(), print
sys.modules['matplotlib.pyplot'] = plots
"""
    assert await full.call(code) == "all"
    assert len(full.images) == 2


async def test_a_place_without_background_is_told_of(make, tmp_path):
    from hermes_core.testing import FakeWorkspace

    bench = make(mode="full")
    bench.context.workspace = FakeWorkspace(folder=tmp_path / "work")
    assert "a place where something can run beside" in await bench.call("1")


async def test_a_place_without_python_is_told_of(make, monkeypatch):
    from hermes_tool_python import process

    bench = make(mode="full")
    monkeypatch.setattr(process, "_PYTHONS", ("no-such-python",))
    monkeypatch.setattr(process.sys, "executable", "")
    assert "there is no Python" in await bench.call("1")


async def test_what_a_version_manager_puts_before_python_is_tried_and_passed_over(make, tmp_path, monkeypatch):
    from hermes_tool_python import process

    broken, works = tmp_path / "broken", tmp_path / "works"
    broken.write_text('#!/bin/sh\nexec /no/where/pyenv exec python3 "$@"\n')
    works.write_text(f'#!/bin/sh\nexec "{process.sys.executable}" "$@"\n')
    for one in (broken, works):
        one.chmod(0o700)
    monkeypatch.setattr(process.sys, "executable", "")
    monkeypatch.setattr(process, "_PYTHONS", (str(broken), str(works)))
    assert await make(mode="full").call("print(6 * 7)") == "42"
    monkeypatch.setattr(process, "_PYTHONS", (str(broken),))
    assert "/no/where/pyenv" in await make(mode="full").call("1")
