"""Edits that are right or refused, never wrong. ``None`` means refused."""

import pytest

from hermes_core.errors import ToolError
from hermes_tool_files.matching import edit

PY = "def f(a):\n    if a:\n        return 1\n    return 2\n"
TABS = "class A:\n\tdef f(self):\n\t\tif x:\n\t\t\treturn 1\n"
TWO = "a:\n  b:\n    c: 1\n    d: 2\n"

CASES = {
    # exact
    "one word": ("a b c", "b", "x", "a x c"),
    "whole line": ("a\nb\nc\n", "b\n", "x\n", "a\nx\nc\n"),
    "line deleted": ("a\nb\nc\n", "b\n", "", "a\nc\n"),
    "line added": ("a\nc\n", "a\n", "a\nb\n", "a\nb\nc\n"),
    "across lines": ("a\nb\nc", "a\nb", "x", "x\nc"),
    "first of file": ("a\nb", "a", "x", "x\nb"),
    "last without line end": ("a\nb", "b", "x", "a\nx"),
    "inside a word": ("foobar", "foo", "bar", "barbar"),
    "two places": ("a a", "a", "x", None),
    "overlapping places": ("aaa", "aa", "x", None),
    "exact wins over look-alike place": ("x = 1\nx  =  1\n", "x = 1\n", "x = 2\n", "x = 2\nx  =  1\n"),
    "Korean": ("안녕 세상\n", "세상", "여러분", "안녕 여러분\n"),
    "emoji": ("a 🎉 b", "🎉", "🚀", "a 🚀 b"),
    "not there": ("a b c", "d", "x", None),
    "empty old": ("a", "", "x", None),
    "old is new": ("a", "a", "a", None),
    "empty file": ("", "a", "b", None),
    # line ends
    "CRLF kept": ("a\r\nb\r\nc\r\n", "b", "x\ny", "a\r\nx\r\ny\r\nc\r\n"),
    "CRLF across lines": ("a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n", "x\r\ny\r\nz\r\nc\r\n"),
    "CRLF in old and new": ("a\r\nb\r\n", "a\r\nb", "a\r\nc", "a\r\nc\r\n"),
    "CRLF in old, LF in file": ("a\nb\n", "a\r\nb\r\n", "c\r\n", "c\n"),
    "mixed line ends": ("a\r\nb\nc\r\nd\n", "c", "x\ny", "a\r\nb\nx\r\ny\r\nd\n"),
    "mixed line ends, other half": ("a\r\nb\nc\r\nd\n", "b", "x\ny", "a\r\nx\ny\nc\r\nd\n"),
    "last line takes the line end before": ("a\r\nb", "b", "b\nc", "a\r\nb\r\nc"),
    "lone CR is a character": ("a\rb\nc\n", "c", "x", "a\rb\nx\n"),
    "CRLF line deleted": ("a\r\nb\r\nc\r\n", "b\n", "", "a\r\nc\r\n"),
    # white space at the end of lines
    "trailing space in file": ("a = 1   \nb = 2\n", "a = 1\nb = 2\n", "a = 3\nb = 2\n", "a = 3\nb = 2\n"),
    "trailing space in old": ("a = 1\nb = 2\n", "a = 1  \nb = 2\n", "a = 3\nb = 2\n", "a = 3\nb = 2\n"),
    "lines that stay keep their space": ("a = 1   \nb = 2\n", "a = 1\nb = 2\n", "a = 1\nb = 3\n", "a = 1   \nb = 3\n"),
    # indentation
    "indented deeper in file": (
        PY, "if a:\n    return 1\nreturn 2\n", "if a:\n    return 3\nreturn 2\n", PY.replace("1", "3")
    ),
    "indented less in file": (
        PY, "        if a:\n            return 1\n", "        if a:\n            return 3\n", PY.replace("1", "3")
    ),
    "new deeper lines follow": (
        PY,
        "if a:\n    return 1\n",
        "if a:\n    if b:\n        return 3\n    return 1\n",
        "def f(a):\n    if a:\n        if b:\n            return 3\n        return 1\n    return 2\n",
    ),
    "tabs in file, spaces in old": (
        TABS, "    if x:\n        return 1\n", "    if x:\n        return 2\n", TABS.replace("1", "2")
    ),
    "tabs in file, deeper new": (
        TABS,
        "if x:\n    return 1\n",
        "if x:\n    for y in z:\n        return 2\n",
        "class A:\n\tdef f(self):\n\t\tif x:\n\t\t\tfor y in z:\n\t\t\t\treturn 2\n",
    ),
    "two spaces in file, four in old": (
        TWO,
        "a:\n    b:\n        c: 1\n        d: 2\n", "a:\n    b:\n        c: 3\n        d: 2\n", TWO.replace("1", "3")
    ),
    "another structure": ("if a:\n    b()\nc()\n", "if a:\n    b()\n    c()\n", "if a:\n    d()\n    c()\n", None),
    "flattened": ("a:\nb:\n", "a:\n  b:\n", "a:\n  c:\n", None),
    "tabs and spaces mixed in file": ("\tif a:\n        b()\n", "if a:\n    b()\n", "if a:\n    c()\n", None),
    "new cannot be moved left": ("  a b\n", "    a b\n", "x\n", None),
    "two places but for indentation": (
        "if a:\n    x = 1\nif b:\n        x = 1\n", "      x = 1\n", "      x = 2\n", None),
    "blank lines stay blank": (
        "def f():\n    a = 1\n\n    b = 2\n",
        "a = 1\n\nb = 2\n", "a = 1\n\nb = 3\n", "def f():\n    a = 1\n\n    b = 3\n"
    ),
    "a blank line too many": ("a = 1\n\n\nb = 2\n", "a = 1\n\nb = 2\n", "a = 1\nb = 2\n", None),
    "deleted whole lines": ("x\n    a = 1\n    b = 2\ny\n", "  a = 1\n  b = 2\n", "", "x\ny\n"),
    # white space within lines
    "spaces around operators": ("x  =  a+b\n", "x = a + b\n", "x = a - b\n", "x = a - b\n"),
    "tab between words": ("int\tx;\n", "int x;", "int y;", "int\ty;\n"),
    "part of a line": ("if a:  x  = 1  # why\n", "x = 1", "x = 2", "if a:  x = 2  # why\n"),
    "part of two lines alike": ("y(x  = 1)\nz(x  = 1)\n", "x = 1", "x = 2", None),
    "spaces inside a literal": ('say("a  b")\n', 'say("a b")\n', 'say("c")\n', None),
    "a literal joined": ('say("a" "b")\n', 'say("ab")\n', 'say("c")\n', None),
    "lines joined": ("f(a,\n  b)\n", "f(a, b)\n", "f(c)\n", None),
    "lines split": ("f(a, b)\n", "f(a,\n  b)\n", "f(c)\n", None),
    # differing tokens
    "another word": ("count = total\n", "count = totals\n", "x\n", None),
    "another number": ("x = 10\n", "  x = 11\n", "x = 1\n", None),
    "a longer number": ("x  = 10\n", "x = 1\n", "x = 2\n", None),
    "a decimal point": ("x  = 1.0\n", "x = 1 .0\n", "x = 2\n", None),
    "another operator": ("if a  <= b:\n", "if a < b:\n", "x\n", None),
    "an operator split": ("a --b\n", "a - -b\n", "c\n", None),
    "equal and double equal": ("if a  == b\n", "if a = b\n", "x\n", None),
    "another case": ("Return  x\n", "return x\n", "y\n", None),
    "another bracket": ("f(x )\n", "f[x]\n", "y\n", None),
    "a comment more": ("x  = 1  # one\ny = 2\n", "x = 1\ny = 2\n", "z\n", None),
    "a quote of another kind": ('x  = "a"\n', "x = 'a'\n", "y\n", None),
    "a negation": ("if not  a:\n", "if a:\n", "if b:\n", None),
    "one line of five differs": ("a1\nb2\nc3\nd4\ne5\n", " a1\n b2\n c9\n d4\n e5\n", "x\n", None),
    "a prefix of a literal": ('x  = f"a"\n', 'x = "a"\n', "y\n", None),
    "only brackets": ("f(\n  x\n  )\n", "      )\n", "]\n", None),
    "words stuck together": ("return x\n", "returnx\n", "y\n", None),
    # look-alike characters
    "curly quotes": ("It\u2019s \u201cfine\u201d here\n", "It's \"fine\" here", "It's \"fine\" there",
        "It\u2019s \u201cfine\u201d there\n"),
    "long dash": ("a \u2013 b c\n", "a - b c\n", "a - b d\n", "a \u2013 b d\n"),
    "non-breaking space": ("a\u00a0b c\n", "a b c\n", "a b d\n", "a\u00a0b d\n"),
    "curly in old": ("it's so\n", "it\u2019s so\n", "it\u2019s not\n", "it's not\n"),
    "composed and decomposed": ("caf\u00e9  au lait\n", "cafe\u0301 au lait\n", "tea\n", "tea\n"),
    "another letter that looks alike": ("p\u0430y  me\n", "pay me\n", "x\n", None),
    # escapes
    "escaped quotes": ('print("a")\n', 'print(\\"a\\")', 'print(\\"b\\")', 'print("b")\n'),
    "escaped line end": ("a = 1\nb = 2\n", "a = 1\\nb = 2", "a = 1\\nb = 3", "a = 1\nb = 3\n"),
    "an escape that may be meant": ('print("a")\nx\n', 'print(\\"a\\")\\nx', 'print(\\"a\\n\\")\\nx', None),
    "another backslash": ('print("a")\n', 'print(\\"a\\")', 'print(\\"\\d\\")', None),
    "escapes that stand in the file": ('print("a\\n")\n', '"a\\n"', '"b\\n"', 'print("b\\n")\n'),
    "escaped twice in two places": ('f("a")\nf("a")\n', 'f(\\"a\\")', 'f(\\"b\\")', None),
}  # fmt: skip


@pytest.mark.parametrize(("text", "old", "new", "wanted"), CASES.values(), ids=CASES)
def test_an_edit_is_right_or_refused(text, old, new, wanted):
    if wanted is None:
        with pytest.raises(ToolError, match="Not edited"):
            edit(text, old, new)
    else:
        assert edit(text, old, new).text == wanted


def test_all_places_are_replaced_when_asked():
    result = edit("a b a\r\na\r\n", "a", "x\ny", replace_all=True)
    assert (result.text, result.places) == ("x\r\ny b x\r\ny\r\nx\r\ny\r\n", 3)


def test_all_places_must_be_exact():
    with pytest.raises(ToolError, match="exact text"):
        edit("a  = 1\na  = 1\n", "a = 1\n", "b = 1\n", replace_all=True)


@pytest.mark.parametrize(
    ("text", "old", "strategy"),
    [
        ("a = 1\n", "a = 1", "exact"),
        ("a = 1 \nb\n", "a = 1\nb\n", "trailing space"),
        ("\ta = 1\n", "    a = 1\n", "indentation"),
        ("a  = 1\n", "a = 1\n", "white space"),
        ("a \u2013 1\n", "a - 1\n", "look-alike characters"),
        ('a = "1"\n', 'a = \\"1\\"', "escapes"),
    ],
)
def test_how_it_was_found_is_told(text, old, strategy):
    indent = old[: len(old) - len(old.lstrip())]
    assert edit(text, old, indent + "new" + old[len(old.rstrip()) :]).strategy == strategy


def test_several_places_are_told_by_line():
    with pytest.raises(ToolError, match="lines 1, 3"):
        edit("a = 1\nb\na = 1\n", "a = 1", "x")


def test_the_nearest_place_is_shown_with_what_differs():
    with pytest.raises(ToolError) as refused:
        edit("x\ny\ndef total(a, b):\n    return a + b\n", "def total(a, b):\n    return a - b\n", "z\n")
    assert "lines 3-4" in str(refused.value)
    assert "-    return a - b\n+    return a + b" in str(refused.value)


def test_nothing_alike_is_said():
    with pytest.raises(ToolError, match="Nothing in it is like it"):
        edit("one two three\n", "alpha beta gamma", "x")
