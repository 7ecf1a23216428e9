"""One reading of a command line: what rules, grants and hard blocks see of it, and that nothing in it is lost."""

import shlex
from pathlib import Path

import pytest
from guard_places import blocked, corpus, judged
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hermes_tool_guard.line import plain, singles, torn
from hermes_tool_guard.parts import Ground, for_grants, for_rules

CLOSED = [Path("/srv/hermes/config.yaml"), Path("/srv/hermes/.env")]
HELD = 587  # of 1134
LOOK = settings(deadline=None, max_examples=300)
PROGRAM = st.from_regex(r"[a-z]{2,6}", fullmatch=True).filter(
    lambda word: plain(word) is not None and word not in ("eval", "coproc", "su", "sh")
)
WORD = st.text(st.characters(codec="ascii", min_codepoint=32, max_codepoint=126), max_size=8)
TAME = st.text("abcxyz019_@%+=:,./- é|&;()<>*?#~!{}[]^", max_size=8)
MARK = st.sampled_from(["&&", "||", ";", "|", "\n"])
LINE = st.lists(st.tuples(PROGRAM, st.lists(TAME, max_size=4), MARK), min_size=1, max_size=5)


def quoted(word: str) -> str:
    return shlex.quote(word)


def written(line: list[tuple[str, list[str], str]]) -> str:
    """A line of commands, the last one without what would join another."""
    parts = [f"{' '.join([program, *map(quoted, words)])} {mark} " for program, words, mark in line]
    return "".join(parts).removesuffix(f" {line[-1][2]} ")


@LOOK
@given(LINE)
@pytest.mark.long
def test_a_plain_line_is_read_as_it_was_written(line):
    found = plain(written(line))
    assert found is not None
    assert [one.words for one in found] == [(program, *words) for program, words, _ in line]
    marks = [mark for *_, mark in line][:-1]
    assert [one.after for one in found] == [*marks, ""]
    assert [one.before for one in found] == ["", *marks]


@LOOK
@given(LINE)
@pytest.mark.long
def test_grants_rules_and_blocks_see_the_same_commands_in_a_plain_line(line):
    text = written(line)
    seen = {" ".join(one.words) for one in plain(text) or ()}
    told = {" ".join(words) for words in singles(text)}
    assert seen <= told
    granted, _ = for_grants(text, Ground("/work", local=False))
    assert {part.text for part in granted} <= {part.text for part in for_rules(text)}


AROUND = [
    "echo $({})", "echo `{}`", "if true; then {}; fi", "for x in 1; do {}; done", "{{ {}; }}", "( {} )", "! {}",
    "f() {{ {}; }}; f", "case x in a) {};; esac", "true && {} > out", "x=$(echo \"$({})\")", "cat <( {} )",
    "{} 2>&1 | tee x",
    "bash <<EOF\n{}\nEOF", "echo \"a $({}) b\"", "while read x; do {}; done < list", "coproc {}", "[[ -n $({}) ]]",
]  # fmt: skip


@LOOK
@given(PROGRAM, st.lists(st.from_regex(r"[a-z0-9/.=-]{1,6}", fullmatch=True), max_size=3), st.sampled_from(AROUND))
@example("rm", ["-rf", "x"], AROUND[0])
def test_a_command_is_seen_whatever_stands_around_it(program, words, around):
    told = [" ".join(one) for one in singles(around.format(" ".join([program, *words])))]
    assert any(" ".join([program, *words]) in one for one in told), told


@LOOK
@given(PROGRAM, st.lists(WORD, max_size=3), st.sampled_from(["sh -c {}", "bash -lc {}", "eval {}", "bash <<< {}"]))
def test_code_in_a_word_is_read_as_a_line_is(program, words, carrier):
    code = " ".join([program, *map(quoted, words)])
    assert {*singles(code)} <= {*singles(carrier.format(quoted(code)))}


@LOOK
@given(st.text(max_size=60))
@example("a (b; 'c")
@example("\ud800 rm x")
@example("if fi then `")
def test_whatever_is_no_shell_is_torn_and_nothing_of_it_is_lost(text):
    told = " ".join(" ".join(one) for one in (*singles(text), *torn(text)))
    plain(text)
    for word in filter(str.isalnum, text.split()):
        assert word in told


def test_long_words_and_many_commands_take_no_longer_than_they_are_long():
    """A pattern that looks back at all it saw would take minutes."""
    assert plain("cat " + "a" * 15_000 + "*") is None
    assert len(plain("; ".join(["ls -l x"] * 1_000)) or ()) == 1_000
    assert singles("echo " + "(" * 2_000)
    assert singles("$(" * 500)


def test_of_the_worst_commands_as_many_are_blocked_as_ever():
    """The net under the judgement, which denies all of them: what it holds today it holds tomorrow."""
    lines = [line for n in ("", "-2", "-3", "-4", "-5") for line in corpus(f"never{n}.txt")]
    held = [line for line in lines if blocked(line, "/home/dev/project", CLOSED)]
    assert len(held) >= HELD
    assert [line for line in held if judged(line).outcome == "allow"] == []


def test_nobody_is_stopped_for_what_stands_in_quotes():
    for line in ("git commit -m 'never; rm -rf / again'", "grep -E '^(rm -rf /|x)$' a", "echo 'a && rm -rf ~'"):
        assert blocked(line, "/work", CLOSED) == ""
        assert len({part.text for part in for_rules(line)}) == 1, line
