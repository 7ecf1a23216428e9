"""The parts of a command line as rules and grants see them."""

from pathlib import Path

from guard_places import blocked

from hermes_core.testing import FakeWorkspace
from hermes_core.types import Protected, ToolCall, Verdict
from hermes_tool_guard.gate import look
from hermes_tool_guard.itself import runs_itself
from hermes_tool_guard.line import plain
from hermes_tool_guard.parts import Ground, for_grants, for_rules

HERE = Ground("/work/p", local=False)


def test_a_command_is_seen_as_the_commands_that_it_runs() -> None:
    found = {part.text for part in for_rules("sudo /bin/ls  -l | A=1 wc; sh -c 'rm x'; ")}
    assert found == {"ls -l", "wc", "sh -c rm x", "rm x"}


PLAIN = [
    # a line, the words of its commands; nothing when it is not plain
    ("a 'b c' \"d e\" f'g'h", [("a", "b c", "d e", "fgh")]),
    ("a && b || c ; d | e\nf", [("a",), ("b",), ("c",), ("d",), ("e",), ("f",)]),
    ("  a\t b  ", [("a", "b")]),
    ("a ''", [("a", "")]),
    *((line, None) for line in ("", "  ", "''", "'' a", "a; ''", "a;", "; a", "a && && b", "a=1", "a; b=1", "a 'b")),
    *((f"{word} a", None) for word in ("if", "then", "for", "while", "case", "in", "function", "select", "coproc")),
    ("a; time b", None),
    ("a" * 20_000, [("a" * 20_000,)]),
    ("a" * 20_001, None),
]  # fmt: skip


def test_what_is_plain() -> None:
    found = {line: plain(line) for line, _ in PLAIN}
    assert [line for line, words in PLAIN if words != (found[line] and [one.words for one in found[line]])] == []
    assert [(one.before, one.after) for one in plain("a && b | c") or ()] == [("", "&&"), ("&&", "|"), ("|", "")]


RUNNING = [
    ("hermes", True), ("/usr/bin/hermes x", True), ("acme-bot x", True), ("/opt/acme-bot", True), ("other", False),
    ("python -m hermes_core", True), ("python3.12 -Im hermes", False),
    ("python -m acme_bot", True), ("python -m acme-bot", True), ("python x.py hermes", False), ("python hermes", True),
    ("uv run hermes x", True), ("uv run x hermes", False), ("uvx hermes", True), ("uvx --from hermes x", True),
    ("uvx --with hermes x", False), ("pipx run acme-bot", True), ("pipx install hermes", False), ("uvxx hermes", False),
    ("python", False), ("xuv hermes", False), ("xpython hermes", False), ("bash -m hermes", False),
    ("uv run --from x", False),
]  # fmt: skip


def test_a_command_that_runs_this_program_is_known() -> None:
    assert [row for row in RUNNING if runs_itself(row[0].split(), "acme-bot") is not row[1]] == []
    assert not runs_itself(["acme-bot"], "other")


def test_what_is_for_a_person_is_known_whatever_runs_this_program() -> None:
    mine = ["hermes config set x", "uv run hermes config set x", "python3 -m hermes_core --json config set x"]
    mine += ["python3 -mhermes_core config set x", "uvx --from hermes hermes config unset x", "hermes --yolo"]
    theirs = ["hermes config get x", "hermes search config set x", "uv run other config set x", "hermes"]
    theirs += ["python3 -m other config set x"]
    assert [one for one in (*mine, *theirs) if blocked(one, "/work")] == mine


def test_links_are_followed_where_this_machine_can_tell(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    for local, name in ((True, "real"), (False, "link")):
        [part], _ = for_grants("git add x", Ground(f"{tmp_path}/link", local))
        assert (part.folder, part.places) == (f"{tmp_path}/{name}", (f"{tmp_path}/{name}/x",))


def test_a_line_with_a_redirection_is_for_rules_to_the_letter() -> None:
    lines = ["ls", "ls > x", "ls < x", "ls `x`", "ls $(x)", "ls\nls", "ls $x", "ls (x)"]
    literal = [line for line in lines if any(part.literal for part in for_rules(line))]
    assert literal == ["ls > x", "ls < x", "ls `x`", "ls $(x)", "ls\nls"]
    assert [part.literal for part in for_grants("git commit -m 'a > b'", HERE)[0]] == [True]


async def said(**arguments: object) -> Verdict:
    call = ToolCall(id="1", name="t", arguments=arguments)
    return await look(call, FakeWorkspace(), Protected())


async def test_every_text_of_a_call_is_looked_at_and_a_list_is_a_command() -> None:
    for arguments in ({"command": ["rm", "-rf", "/"]}, {"code": "x", "note": "rm -rf /"}, {"script": "rm -rf /"}):
        assert (await said(**arguments)).hard, arguments
    assert not (await said(command=["echo", "rm -rf /"])).hard
    long = await said(command=f"true {'x' * 5_000}; rm -rf /")
    assert (long.outcome, long.hard) == ("deny", True)


async def test_what_may_last_and_what_of_it_rules_and_grants_see() -> None:
    rows = [
        # arguments, whether a yes may last, what rules see, the words that grants see
        ({"command": "git push"}, True, {"git push"}, [("git", "push")]),
        ({"command": "cd x && /bin/ls"}, False, {"cd x", "ls"}, []),
        ({"command": "cd x && ls"}, True, {"cd x", "ls"}, [("ls",)]),
        ({"command": "ls | wc"}, True, {"ls", "wc"}, []),
        ({"cmd": "rm x"}, True, {"x", "rm x"}, [("rm", "x")]),
        ({"path": "x.sh"}, False, {"x.sh"}, []),
        ({"n": 5}, False, set(), []),
        ({}, False, set(), []),
    ]
    wrong = []
    for arguments, lasting, texts, words in rows:
        word = await said(**arguments)
        seen = {part.text for part in word.commands or ()}, [part.words for part in word.commands or () if part.words]
        wrong += [] if (word.lasting, *seen) == (lasting, texts, words) else [(arguments, word.lasting, *seen)]
    assert wrong == []
