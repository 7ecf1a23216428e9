"""What holds for any edit of any text."""

from hypothesis import assume, example, given
from hypothesis import strategies as st

from hermes_core.errors import ToolError
from hermes_tool_files.content import decode
from hermes_tool_files.matching import edit
from hermes_tool_files.tokens import spelled

WORDS = st.sampled_from(["a", "bb", "total", "x1", "10", "=", "==", "(", ")", "+", "'s'", "return"])
LINE = st.builds(lambda i, w: " " * (4 * i) + " ".join(w), st.integers(0, 3), st.lists(WORDS, max_size=5))
LINES = st.lists(LINE, min_size=1, max_size=12)
SPACES = st.sampled_from([" ", "  ", "\t"])
ENDS = st.sampled_from(["\n", "\r\n"])


def attempt(text, old, new, **more):
    try:
        return edit(text, old, new, **more).text
    except ToolError:
        return None


@given(LINES, st.data(), ENDS)
def test_text_around_the_place_keeps_every_byte(lines, data, end):
    first = data.draw(st.integers(0, len(lines) - 1))
    last = data.draw(st.integers(first, len(lines) - 1))
    place = lines[first : last + 1]
    remembered = [
        "".join(data.draw(SPACES) if c == " " and line[:i].strip() else c for i, c in enumerate(line)) for line in place
    ]
    text = "".join(line + end for line in lines)
    result = attempt(text, "\n".join(remembered), "@new@")
    if result is not None:
        before, new, after = result.partition("@new@")
        assert new
        assert text.startswith(before)
        assert text.endswith(after)


@given(LINES, LINES)
@example(["", "    bb a a a"], ["", "bb a a a"])
def test_what_is_replaced_says_the_same_as_old(lines, old_lines):
    text, old = "\n".join(lines), "\n".join(old_lines)
    result = attempt(text, old, "@new@")
    if result is not None:
        before, _, after = result.partition("@new@")
        # What moves to the place's indentation brings that indentation along.
        gone = text[len(before.rstrip(" ")) : len(text) - len(after)]
        # The line end after the last line is kept or taken with it, and so is white space alone after it: no tokens.
        said, meant = (part.rstrip().split("\n") for part in (gone, old))
        assert [spelled(line) for line in said] == [spelled(line) for line in meant]


@given(LINES, st.data())
def test_a_changed_token_is_refused(lines, data):
    text = "\n".join(lines)
    number = data.draw(st.integers(0, len(lines) - 1))
    assume(lines[number].strip())
    assert attempt(text, "\n".join([*lines[:number], lines[number] + " other"]), "new") is None


@given(LINES, st.integers(0, 4))
def test_moved_text_lands_where_the_file_has_it(lines, shift):
    # One line without its indentation stands exactly in the file, and exact text is replaced as it is given.
    assume(sum(bool(line.strip()) for line in lines) > 1)
    moved = [" " * shift + line if line.strip() else line for line in lines]
    wanted = [*moved, " " * shift + "added here", "end of it"]
    text = "\n".join([*moved, "end of it"]) + "\n"
    result = attempt(text, "\n".join(lines) + "\n", "\n".join([*lines, "added here"]) + "\n")
    assert result in (None, "\n".join(wanted) + "\n")


@given(st.text(st.sampled_from("ab \n\r\t'\"\\é“"), max_size=60), st.text(max_size=8), st.text(max_size=8))
def test_anything_is_an_edit_or_a_refusal(text, old, new):
    attempt(text, old, new)
    attempt(text, old, new, replace_all=True)


@given(st.binary(max_size=200))
def test_any_bytes_survive_being_text(data):
    content = decode(data)
    assert content.encode(content.text) == data
