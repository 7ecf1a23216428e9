"""The terminal tool, through its Tool value and a real shell."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.errors import ToolError
from hermes_core.testing import Steps
from hermes_core.types import Effect, ExecResult
from hermes_tool_terminal.shellwords import background_part, last_program
from hermes_tool_terminal.text import BUDGET, LINES, Cleaner, clean, cut


@pytest.fixture
def run(terminal, context):
    async def call(command, **more):
        return await terminal.run(context, terminal.params(command=command, **more))

    return call


async def test_output_of_both_streams_is_plain_text(run):
    assert await run("echo one; echo two >&2") == "one\ntwo"


async def test_silence_is_said(run):
    assert await run("true") == "(no output)"


async def test_a_status_is_told_with_its_meaning(run):
    assert await run("exit 3") == "exit 3"
    assert await run("grep x /dev/null") == "exit 1 (no match; not an error)"
    assert (await run("no-such-command-here")).endswith("exit 127 (command not found)")


async def test_a_time_out_is_told_with_the_output_so_far(run):
    told = await run("echo begun; exec sleep 60", timeout=1)
    assert told == "begun\nexit 124 (timed out: ended after 1 s with all it started)"


async def test_it_runs_in_the_folder_it_is_given(run, tmp_path):
    (tmp_path / "sub").mkdir()
    assert await run("pwd", workdir="sub") == str(tmp_path / "sub")


async def test_output_is_shown_live_and_clean(run, context):
    await run("printf '\\033[31mred\\033[0m\\n'")
    assert "".join(context.shown) == "red\n"


async def test_output_over_the_budget_is_spilled_whole(run, context):
    told = await run("seq 1 100000")
    ((path, data),) = context.spilled.items()
    assert data.decode().split() == [str(n) for n in range(1, 100_001)]
    assert path in told
    assert told.startswith("1\n2\n")
    assert told.endswith("\n100000")
    assert len(told.encode()) <= BUDGET
    assert told.count("\n") < LINES


async def test_output_within_the_budget_is_not_touched(run, context):
    assert len(await run("head -c 40000 /dev/zero | tr '\\0' x")) == 40_000
    assert not context.spilled


async def test_a_place_without_bash_gets_sh_and_is_asked_once(terminal, context, place):
    place.missing = {"bash"}
    for _ in range(2):
        assert await terminal.run(context, terminal.params(command="echo $0")) == "sh"
    assert len([r for r in place.asked if "command -v" in r.argv[-1]]) == 1


async def test_a_person_sees_the_shell_and_where_it_is(run, context):
    await run("true")
    assert context.resources["shell"].describe(context.opened["shell"]) == f"bash in {context.workspace.cwd}"


async def test_a_place_that_does_not_answer_is_no_place_with_sh(run, context, place):
    async def late(request):
        return ExecResult(status=124, output=b"")

    place.run = late
    with pytest.raises(ToolError, match="did not answer"):
        await run("true")
    assert not context.opened


async def test_background_commands_are_refused_with_advice(run, place):
    with pytest.raises(ToolError, match="background: yes"):
        await run("sleep 60 &")
    assert not place.asked


async def test_two_calls_run_side_by_side(run):
    a, b = "echo > a; until [ -e b ]; do sleep 0.01; done", "echo > b; until [ -e a ]; do sleep 0.01; done"
    assert await asyncio.gather(run(a, timeout=20), run(b, timeout=20)) == ["(no output)"] * 2


def test_it_says_what_it_does_to_the_world(terminal):
    assert terminal.effects == {Effect.EXECUTE}
    assert list(terminal.touches(terminal.params(command="x"))) == []


@pytest.mark.parametrize("seconds", [0, 601, -1])
def test_a_time_out_outside_its_bounds_is_not_accepted(terminal, seconds):
    with pytest.raises(ValueError, match="timeout"):
        terminal.params(command="x", timeout=seconds)


@pytest.mark.parametrize(
    ("command", "part"),
    [
        ("sleep 1 &", "&"),
        ("sleep 1 & echo x", "&"),
        ("(sleep 1 &)", "&"),
        ("npm start > log 2>&1 &", "&"),
        ("curl http://x/?a=1&b=2", "&"),
        ("nohup x", "nohup"),
        ("cd /; setsid x", "setsid"),
        ("if true; then nohup x; fi", "nohup"),
        ("sleep 1 & disown", "disown"),
        ("wait; sleep 1 &", "&"),
        ("cat <<E\nx\nE\nsleep 1 &", "&"),
        ("a && b", ""),
        ("a 2>&1", ""),
        ("a &> f", ""),
        ("a >& f", ""),
        ("a |& b", ""),
        ("echo 'a & b' \"c & d\" e\\&", ""),
        ("echo $((3 & 1))", ""),
        ("sleep 1 & sleep 1 & wait", ""),
        ("for i in 1 2; do sleep 1 & done; wait", ""),
        ("cat <<'E'\nx & y\nE", ""),
        ("true # and & more", ""),
        ("grep nohup f", ""),
        ("man setsid", ""),
        ("case x in x) true;;& esac", ""),
        ("", ""),
    ],
)
def test_background_parts_are_seen_and_others_are_not(command, part):
    assert background_part(command) == part


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("grep x f", "grep"),
        ("cd a && /usr/bin/grep x f", "grep"),
        ("cat f | grep 'a|b'", "grep"),
        ("A=1 sudo diff a b", "diff"),
        ("python3 -m pytest -q", "pytest"),
        ("grep x f | head", "head"),
        ("(cd a; cmp b c)", "cmp"),
        ("", ""),
    ],
)
def test_the_program_that_gives_the_status_is_found(command, name):
    assert last_program(command) == name


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x07", "link"),
        ("10%\r50%\r100%\ndone\r\n", "100%\ndone\n"),
        ("b\bbo\bol\bld\bd", "bold"),
        ("\x1b(Bx\x1b=\x1bPq\x1b\\y\x07\x00", "xy"),
        ("한국어 日本 🎉\ttab", "한국어 日本 🎉\ttab"),
    ],
)
def test_what_a_screen_would_not_show_is_gone(raw, plain):
    assert clean(raw) == plain


def test_live_pieces_may_split_characters_and_escapes():
    cleaner = Cleaner()
    data = "a\x1b[31m한\x1b[0mz".encode()
    assert "".join(cleaner.feed(data[i : i + 1]) for i in range(len(data))) == "a한z"


ESCAPES = [
    "\x1b",
    "\x1b[",
    "31m",
    "\x1b]0;t",
    "\x07",
    "\x1b\\",
    "\x1bP",
    "\x9b1m",
    "\r",
    "\n",
    "\\",
    "한",
    "a",
    "\x00",
    "(B",
]


@given(st.lists(st.sampled_from(ESCAPES), max_size=12).map("".join), st.lists(st.integers(1, 9), max_size=20))
def test_live_pieces_are_shown_like_the_whole(text, sizes):
    data, at, cleaner, shown = f"{text}.".encode(), 0, Cleaner(), ""
    with Steps(len(data), each=20):
        for size in [*sizes, len(data)]:
            shown += cleaner.feed(data[at : at + size])
            at += size
        whole = Cleaner().feed(data)
    assert shown == whole


@pytest.mark.parametrize("unit", ["\n", " \n", "(", "((", "$((", "do ", "'", '"', "\\", "<<A\n", "; ", "a=b ", "#\n"])
def test_a_command_of_any_length_is_looked_through_soon(unit):
    assert background_part(unit * ((200_000 if unit == "\n" else 20_000) // len(unit)) + "\n nohup x") in ("nohup", "")
    assert background_part(unit * 2 + "x") == ""


def test_cutting_counts_bytes_of_any_script():
    short = cut("한" * 100_000, "")
    assert len(short.encode()) <= BUDGET
    assert "100,000 characters left out" in short
    assert "\ufffd" not in short


def test_a_very_long_line_is_cleaned_in_one_go():
    assert len(clean("x" * 5_000_000 + "\r" + "y" * 1_000_000 + "\n" + "\b" * 100_000)) == 1_000_001
