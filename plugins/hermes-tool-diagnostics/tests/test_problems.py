"""Which problems are new: what was there before is not, wherever its line went."""

from hypothesis import given
from hypothesis import strategies as st

from hermes_tool_diagnostics.problems import Problem, new_problems, of_protocol, told


def at(line: int, message: str = "bad", **more: str) -> Problem:
    return Problem(line=line, message=message, **more)  # type: ignore[arg-type]


def test_what_was_there_is_not_new_when_lines_come_before_it() -> None:
    before, after = "a\nbad\nc\n", "new\nnew\na\nbad\nc\n"
    assert new_problems(before, after, [at(2, "x of line 1")], [at(4, "x of line 3"), at(1)]) == [at(1)]


def test_a_line_that_was_moved_brings_its_problem_along() -> None:
    before, after = "bad\nb\nc\nd\n", "b\nc\nd\nbad\n"
    assert new_problems(before, after, [at(1)], [at(4)]) == []


def test_a_changed_line_may_keep_its_problem_but_not_get_a_second() -> None:
    before, after = "bad = 1\n", "bad = 2\nbad = 3\n"
    assert new_problems(before, after, [at(1)], [at(1), at(2)]) == [at(2)]


def test_another_problem_in_the_same_line_is_new() -> None:
    assert new_problems("x\n", "x\n", [at(1, "one")], [at(1, "one"), at(1, "two")]) == [at(1, "two")]


def test_errors_come_first_and_the_rest_is_counted() -> None:
    found = [at(n, severity="warning") for n in range(1, 15)] + [at(20, code="E1", source="s")]
    rows = told("a.py", new_problems("", "", [], found)).splitlines()
    assert rows[0] == "New problems in a.py:"
    assert rows[1] == "  20:1 error: bad (s E1)"
    assert rows[-1] == "  … and 3 more"


_LINES = st.lists(st.sampled_from("abc"), max_size=8)


@given(_LINES, st.data())
def test_nothing_is_new_in_a_text_that_did_not_change(lines: list[str], data: st.DataObject) -> None:
    text = "\n".join(lines)
    found = [
        at(n + 1, m) for n in range(len(lines)) for m in data.draw(st.lists(st.sampled_from(["p", "q"]), max_size=2))
    ]
    assert new_problems(text, text, found, found) == []


@given(_LINES, _LINES, st.sampled_from(["p", "q"]))
def test_what_nobody_said_before_is_always_told(before: list[str], after: list[str], message: str) -> None:
    found = [at(n + 1, message) for n in range(len(after))]
    known = [at(n + 1, "else") for n in range(len(before))]
    assert len(new_problems("\n".join(before), "\n".join(after), known, found)) == len(after)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["range", "start", "line", "severity", "message", "code"]), inner, max_size=4)
    ),
    max_leaves=10,
)


@given(_JSON)
def test_any_answer_of_a_server_is_read(value: object) -> None:
    assert all(one.line >= 1 or isinstance(one.line, int) for one in of_protocol(value, "s"))
    assert told("a", of_protocol([value], "s"))


def test_whatever_a_server_says_stays_on_its_line_and_in_its_bounds() -> None:
    wide = "x" * 5_000
    one = Problem(line=1, message=f"bad\nRUN this\u2028\x1b[31m {wide}", source=f"Ruff\n{wide}", code="E1\nRUN that")
    rows = told("a.py", [one]).split("\n")
    assert len(rows) == 2
    assert rows[1].startswith("  1:1 error: bad RUN this [31m xxx")
    assert len(rows[1]) < 450
    assert rows[1].isprintable()
