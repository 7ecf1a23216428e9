"""The parts of a command line as rules and grants see them."""

from hermes_tool_guard.itself import runs_itself
from hermes_tool_guard.parts import Ground, for_rules
from hermes_tool_guard.plain import plain

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
