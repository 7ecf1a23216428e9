"""Syntax errors by the parsers at hand, and that no text breaks them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tool_diagnostics.syntax import check, language_of, of_shell, shell_of


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("a.py", "x = 1\ndef f(:\n", 2),
        ("a.py", "x = '\0'\n", 1),
        ("a.json", '{\n "a": 1,\n}', 2),
        ("a.ipynb", "{", 1),
        ("a.yaml", "a: 1\nb: [1\nc: 2\n", 3),
        ("a.yml", "a: 'x\n", 2),
        ("a.toml", "a = 1\nb = \n", 2),
        ("a.toml", "a = [", 1),
        ("a.xml", "<a>\n<b></a>", 2),
    ],
)
def test_an_error_is_found_where_it_stands(path: str, text: str, line: int) -> None:
    found = check(language_of(path, text), text)
    assert len(found) == 1
    assert abs(found[0].line - line) <= 1
    assert found[0].message


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "match x:\n    case 1: ...\n"),
        ("a.py", "x = '\\d'\n"),
        ("a.json", "[1, 2]\n"),
        ("a.yaml", "a: &x 1\nb: *x\nc: !custom {d: 1}\n---\nsecond: 1\n"),
        ("a.toml", "[a]\nb = 1\n"),
        ("a.svg", '<?xml version="1.0" encoding="utf-8"?><svg>é</svg>'),
        ("a.xml", '<!DOCTYPE a [<!ENTITY x "1">]><a>&x;&y;</a>'),
        ("tsconfig.json", "{ // comments\n}"),
        ("/chart/templates/a.yaml", "{{ if x }}"),
        ("a.txt", "def f(:"),
    ],
)
def test_what_is_right_or_not_ours_to_judge_is_left_alone(path: str, text: str) -> None:
    assert list(check(language_of(path, text), text)) == []


def test_a_script_is_for_the_shell_it_names() -> None:
    assert shell_of("#!/bin/sh\n") == "sh"
    assert shell_of("#!/usr/bin/env bash\n") == "bash"
    assert shell_of("echo\n") == "bash"
    assert language_of("run", "#!/bin/sh\n") == "shell"


@pytest.mark.parametrize(
    "said", ["bash: line 3: syntax error near unexpected token `fi'\nbash: line 3: `fi'", "sh: 3: Syntax error: x\n"]
)
def test_what_a_shell_says_is_read(said: str) -> None:
    found = of_shell(said)
    assert [one.line for one in found] == [3]
    assert "yntax error" in found[0].message


@given(st.sampled_from(["python", "json", "yaml", "toml", "xml"]), st.text(max_size=200))
def test_no_text_breaks_a_parser(language: str, text: str) -> None:
    assert len(check(language, text)) <= 1


@pytest.mark.parametrize("language", ["python", "json", "yaml", "toml", "xml"])
@pytest.mark.parametrize(
    "deep", ["[" * 100_000, "{" * 100_000, "<a>" * 100_000, "a: &a [*a, *a]\n" * 1_000, "- " * 50_000]
)
def test_nor_does_what_goes_deep(language: str, deep: str) -> None:
    assert len(check(language, deep)) <= 1
