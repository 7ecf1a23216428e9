"""One broken plugin each: its fault costs its own feature only, it is named, and the end comes soon."""

import re

import pytest

HEAD = """
import asyncio, os, sys, time
from attrs import evolve
from hermes_core import hookimpl
from hermes_core.kinds import tool
from hermes_core.types import Verdict
"""
SWALLOW = """
    while True:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            pass
"""


@pytest.fixture
def asked(cli, monkeypatch):
    """Put in a plugin with these hooks or tools, ask for something, and say what came out."""

    def ask(code, words="list the files here", **tables):
        cli.plugin("tool/bad", HEAD + code, **tables)
        cli("plugins", "enable", "bad", "--yes")  # which tells of some of it
        return cli.process("-z", words)

    return ask


def hook(name, body, arguments="ctx"):
    return f"@hookimpl\nasync def {name}({arguments}):\n{body}\n"


def tools(body, decorator="@tool"):
    return f"""
{decorator}
async def bad_one() -> str:
    "Does something."
{body}

@hookimpl
def register_tools():
    return [bad_one]
"""


@pytest.mark.long
@pytest.mark.parametrize("name", ["on_turn_end", "on_session_end", "post_tool_call", "transform_prompt"])
def test_a_hook_that_swallows_its_cancellation_keeps_no_process_alive(asked, name):
    done = asked(hook(name, SWALLOW), hooks={"use": [name]})
    assert done.status == 0
    assert done.out
    assert "tool/bad failed" in done.err


@pytest.mark.long
def test_a_tool_that_swallows_its_cancellation_keeps_no_process_alive(asked):
    done = asked(tools(SWALLOW, "@tool(seconds=0.2)"), "use the tool bad_one", contributes={"tools": ["bad_one"]})
    assert "cannot be stopped" in done.out


@pytest.mark.parametrize("way", ["sys.exit(3)", "os._exit(3)", "raise KeyError('x')"])
def test_what_ends_in_a_tool_costs_that_call_only(asked, cli, way):
    done = asked(tools(f"    {way}"), "use the tool bad_one", contributes={"tools": ["bad_one"]})
    assert done.status == 0
    assert "bad_one" in done.out
    assert "Plugin tool/bad failed" in done.err
    assert re.search(r"fault +tool/bad", cli("doctor").out)


def test_os_exit_in_a_hook_is_named(asked):
    done = asked(hook("on_turn_start", "    os._exit(5)"), hooks={"use": ["on_turn_start"]})
    assert done.status == 0
    assert "called os._exit(5)" in done.err


def test_os_exit_at_import_is_named_at_the_first_start(asked, cli):
    cli.plugin("tool/bad", "import os\nos._exit(9)\n", hooks={"use": ["on_turn_start"]})
    assert cli("plugins", "enable", "bad", "--yes").status != 9
    done = cli.process("-z", "hello")
    assert done.status == 0
    assert done.out


@pytest.mark.long
@pytest.mark.parametrize("needs", ["lambda session: 1 / 0", "lambda: None", "lambda session: 5"])
def test_needs_that_is_unsound_hides_its_own_tool_only(asked, needs):
    done = asked(tools("    return 'x'", f"@tool(needs={needs})"), contributes={"tools": ["bad_one"]})
    assert done.status == 0
    assert done.out


@pytest.mark.long
@pytest.mark.parametrize(
    "bad",
    [
        "offer, tools=None",
        "offer, tools=(s for s in offer.tools)",
        "offer, tools=[None]",
        "offer, why=5",
        "offer, tools=[evolve(s, description=None) for s in offer.tools]",
    ],
)
def test_a_value_with_nonsense_inside_is_dropped_and_nobody_else_is_blamed(asked, bad):
    done = asked(hook("offer_tools", f"    return evolve({bad})", "offer"), hooks={"use": ["offer_tools"]})
    assert done.status == 0
    assert done.out
    assert [line.split()[1] for line in done.err.splitlines() if line.startswith("Plugin ")] == ["tool/bad"]


@pytest.mark.parametrize(
    ("name", "value", "bad"),
    [
        ("transform_prompt", "prompt", "blocks=7"),
        ("transform_incoming", "envelope", "message=None"),
        ("transform_tool_result", "result", "parts=[5]"),
        ("pre_llm_call", "request", "messages=None"),
    ],
)
def test_the_value_before_stands(asked, name, value, bad):
    done = asked(hook(name, f"    return evolve({value}, {bad})", value), hooks={"use": [name]})
    assert done.status == 0
    assert done.out
    assert f"Plugin tool/bad failed (call): what {name} gave back was not used" in done.err


def test_a_gate_with_nonsense_inside_lets_the_turn_end(asked):
    done = asked(hook("may_end", '    return Verdict(outcome="deny", reason=7)'), hooks={"use": ["may_end"]})
    assert done.status == 0
    assert "tool/bad failed" in done.err


def test_builtins_that_are_replaced_are_put_back(asked):
    code = "import builtins\ndef no(*a, **k): raise RuntimeError\nbuiltins.print = builtins.open = no\n"
    done = asked(f"{code}{hook('on_turn_start', '    pass')}", hooks={"use": ["on_turn_start"]})
    assert done.status == 0
    assert done.out
    assert "replaces Python's own open, print when it is imported" in done.err


@pytest.mark.long
def test_who_holds_up_everything_is_named(asked):
    done = asked(hook("on_turn_end", "    time.sleep(5.2)"), hooks={"use": ["on_turn_end"]})
    assert "Plugin tool/bad failed (call): held everything up for 5 s" in done.err


@pytest.mark.long
@pytest.mark.parametrize("name", ["on_turn_end", "on_session_end"])
def test_a_fault_after_the_answer_is_told(asked, name):
    done = asked(hook(name, '    raise RuntimeError("boom")'), hooks={"use": [name]})
    assert "Plugin tool/bad failed (call): RuntimeError: boom" in done.err


@pytest.mark.long
def test_a_masker_that_hangs_hides_the_text(asked):
    code = """
from hermes_core.kinds import Masker
class M(Masker):
    name = "m"
    def spans(self, text): time.sleep(1000)
@hookimpl
def register_maskers(): return [M()]
"""
    done = asked(code, contributes={"maskers": ["m"]})
    assert done.out
    assert "tool/bad" in done.err


@pytest.mark.parametrize("error", ["asyncio.CancelledError", "GeneratorExit", "KeyError('x')"])
def test_a_command_that_fails_names_its_plugin_without_a_traceback(cli, error):
    code = f"""
import click
from hermes_core.types import Command
@click.command()
async def cc():
    raise {error}
@hookimpl
def register_cli_commands(): return [Command(name="cc", build=lambda: cc)]
"""
    cli.plugin("tool/bad", HEAD + code, **{"commands.cc": {"summary": "C."}})
    assert cli("plugins", "enable", "bad", "--yes").status == 0
    done = cli.process("cc")
    assert done.status == 3
    assert "Plugin tool/bad: its command cc failed" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("words", [("-z", "hello"), ("chat", "-q", "hello"), ("--cli", "chat")])
def test_what_falls_over_an_answer_is_told_once_wherever_one_talks(cli, words):
    cli.plugin("tool/bad", HEAD + hook("transform_outgoing", "    1 / 0"), hooks={"use": ["transform_outgoing"]})
    cli("plugins", "enable", "bad", "--yes")
    done = cli.process(*words, input="hello\nhello\n")
    said = [line for line in (done.out + done.err).splitlines() if "tool/bad" in line]
    assert len(said) == 1, said
    assert "did not change the answer: ZeroDivisionError" in said[0]
