"""Variables are read as they are spelled, and one is changed without touching another line."""

from hypothesis import given
from hypothesis import strategies as st

from hermes_env_file.lines import changed, values

NAME = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
VALUE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
TEXT = """# keys
A=plain
export B = "two\\nlines \\"quoted\\""  # why
C='it\\'s # no comment'
 D=with # a comment
not a variable
A=again"""


def test_usual_spellings_are_read() -> None:
    assert values(TEXT) == {"A": "again", "B": 'two\nlines "quoted"', "C": "it's # no comment", "D": "with"}
    assert values('KEY="over\nlines"\r\nE=\r\n') == {"KEY": "over\nlines", "E": ""}


def test_one_line_changes_and_a_name_is_left_once() -> None:
    assert changed(TEXT, "A", "x y") == TEXT.replace("A=plain", 'A="x y"').removesuffix("A=again")
    assert changed("A=1", "B", "2") == "A=1\nB=2\n"
    assert changed("", "B", "") == "B=\n"
    assert changed(TEXT, "B", None) == "".join(one for one in TEXT.splitlines(keepends=True) if "B =" not in one)
    assert changed(TEXT, "NONE", None) == TEXT


@given(st.dictionaries(NAME, VALUE, max_size=4), NAME, VALUE)
def test_any_value_comes_back_as_it_was(others: dict[str, str], name: str, value: str) -> None:
    text = ""
    for other, held in others.items():
        text = changed(text, other, held)
    assert values(text) == others
    assert values(changed(text, name, value)) == {**others, name: value}
    assert values(changed(text, name, None)) == {other: held for other, held in others.items() if other != name}
