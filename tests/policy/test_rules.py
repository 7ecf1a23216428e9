"""Rules over calls: what fits which, and what a person is shown of a call."""

import pytest

from hermes_core.agent.policy.rules import allows, escape, idle, matches, subject_of, words_of
from hermes_core.types import ToolCall
from hermes_tool_guard.parts import for_rules


def call(**arguments: object) -> ToolCall:
    return ToolCall(id="1", name="run", arguments=arguments)


FITS = [
    ("run", "run(ls)", True), ("run", "run()", True), ("run", "runs(ls)", False), ("ru*", "run(ls)", True),
    ("run(ls)", "run(ls)", True), ("run(ls)", "run(ls -l)", False), ("run(ls *)", "run(ls -l)", True),
    ("run(ls *)", "run(ls)", False), ("run(l?)", "run(ls)", True), ("*(ls)", "other(ls)", True),
    ("run(a $(b))", "run(a $(b))", True), ("run(a $(b))", "run(a $(b)", False), ("run((a) *)", "run((a) (b))", True),
    ("run(ls)", "other(ls)", False), ("run(LS)", "run(ls)", False), ("run()", "run(ls)", True),
]  # fmt: skip


def test_which_call_a_rule_fits() -> None:
    assert [row for row in FITS if matches(*row[:2]) is not row[2]] == []


SUBJECTS = [
    ({"command": "ls", "path": "x", "query": "q"}, "ls"),
    ({"query": "q", "url": "u"}, "u"),
    ({"path": "p", "url": "u"}, "p"),
    ({"command": 1, "query": "q"}, "q"),
    ({"a": 1, "b": "two"}, "a=1, b=two"),
    ({}, ""),
]


def test_what_stands_for_a_call() -> None:
    assert [row for row in SUBJECTS if subject_of(call(**row[0])) != row[1]] == []


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ({"command": "ls"}, "run(ls)"),
        ({"command": "ls", "workdir": "/x", "pty": True}, "run(ls)\nworkdir: /x\npty: true"),
        ({"command": "ls", "a": "", "b": None, "c": [], "d": {}, "e": 0, "f": False}, "run(ls)\ne: 0\nf: false"),
        ({"command": "ls", "again": "ls"}, "run(ls)"),
        ({"a": 1, "b": "ü"}, "run(a=1, b=ü)"),
        ({"command": "ls", "list": ["ü"]}, 'run(ls)\nlist: ["ü"]'),
        ({"path": "p", "content": "x" * 1000}, f"run(p)\ncontent: {'x' * 1000}"),
        ({"path": "p", "content": "x" * 1001}, f"run(p)\ncontent: {'x' * 1000}… (1,001 characters)"),
    ],
)
def test_what_a_person_is_shown_of_a_call(arguments, shown) -> None:
    assert words_of(call(**arguments)) == shown


def parts(command: str) -> list[tuple[str, bool]]:
    """What the guard says of a command, as rules for the tool ``run`` see it."""
    return [(f"run({part.text})", part.literal) for part in for_rules(command)]


ALLOWED = [
    # rule, command, whether it is allowed
    ("run", "ls; rm x > y", True),
    ("run(ls)", "ls", True),
    ("run(ls)", "ls; rm x", False),
    ("run(ls *)", "ls -l", True),
    ("run(ls *)", "ls -l; ls -a", True),
    ("run(ls *)", "ls -l; rm x", False),
    ("run(ls *)", "ls -l > x", False),
    ("run(ls *)", "ls < x", False),
    ("run(ls *)", "ls `rm x`", False),
    ("run(ls *)", "ls $(rm x)", False),
    ("run(ls *)", "ls -l\nls -a", False),
    ("run(ls *)", "sudo ls -l", False),
    ("run(*)", "ls; rm x", True),
    ("run(*)", "ls > x", False),
    (escape("run(ls *; rm [x] > ?)"), "ls *; rm [x] > ?", True),
    (escape("run(ls *; rm [x] > ?)"), "ls a; rm x > y", False),
    ("send(ls)", "ls", False),
]


def test_what_is_allowed_to_run() -> None:
    wrong = [(r, c) for r, c, yes in ALLOWED if allows(r, f"run({c})", parts(c)) is not yes]
    assert wrong == []
    assert allows("send(to=*)", "send(to=ann > x)", []), "what is no command redirects nothing"
    assert not allows("send(to=bob)", "send(to=ann)", [])


def test_the_rule_for_one_call_fits_it_whatever_signs_are_in_it() -> None:
    for subject in ("run(f(x))", "run(a*b?[c])", "run(x(", "run())"):
        assert matches(escape(subject), subject), subject
        assert not matches(escape(subject), subject.replace("(", "(x", 1) + "x"), subject
    assert escape("run(f(x))") == "run(f(x))"


def test_a_rule_for_a_tool_that_nobody_has_is_told_of() -> None:
    tools = ["terminal", "read_file", "mcp_*"]
    assert idle(["terminal(x)", "read_*", "mcp_one(x)", "t?rminal", "[rt]ead"], tools) == []
    assert idle(["termnal(x)", "zzz"], tools) == [
        "The policy rule 'termnal(x)' matches nothing: no installed plugin has a tool termnal; did you mean terminal?",
        "The policy rule 'zzz' matches nothing: no installed plugin has a tool zzz; `hermes tools list` shows them.",
    ]
