"""What is hidden of each text stays as it is, to the character, until somebody means to change it.

The corpus says that secrets are not to be read and that look-alikes stay; this says all the rest. Look at each change,
then run ``hiding.py`` and commit what it writes.
"""

import pytest
from engine import redact, stream
from hiding import DRESSES, EDGES, NAMES, hidden, path_of, texts

PARTS = {EDGES: 8}  # a mistake is noticed soon where not all has to be looked at before


@pytest.mark.parametrize(
    ("name", "part"), [(name, part) for name in (*NAMES, EDGES, *DRESSES) for part in range(PARTS.get(name, 1))]
)
@pytest.mark.few(12)
def test_what_is_hidden_of_a_text_is_what_was_hidden(name: str, part: int) -> None:
    every = [*zip(texts(name), path_of(name).read_text().splitlines(), strict=True)]
    rows = every[part :: PARTS.get(name, 1)]
    now = [(text, before, hidden(text)) for text, before in rows]
    assert [f"{text!r}\n  was: {before}\n  now: {after}" for text, before, after in now if before != after] == []


def test_lines_that_come_one_by_one_hide_what_the_whole_hides() -> None:
    for text in texts(EDGES):
        redactor = stream()
        assert "".join(map(redactor.feed, text.splitlines(keepends=True))) + redactor.close() == redact(text)


def test_the_measure_says_what_is_hidden() -> None:
    text = "password=dragonfly and sk-abcdefghijklmnopqrstuvwx0123456789ABCD"
    assert hidden("nothing here") == ""
    [first, second] = hidden(text).split()
    assert first == "9-18!"
    begin, end = map(int, second.rstrip("!").split("-"))
    assert redact(text).startswith("password=*** and ")
    assert text[begin:end] == "sk-abcdefghijklmnopqrstuvwx0123456789ABCD"
