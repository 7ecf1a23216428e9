"""However a text is cut on its way, the same comes out, nothing of it grows without end, and nothing is masked twice."""

import json

import pytest
from engine import redact
from engine import stream as begun
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from measuring import rows

from hermes_core.masking import MASKED
from hermes_core.testing import Steps
from hermes_known import stream
from hermes_known.stream import hidden, mask

PIECES = [row["text"] for name in ("tune.secrets", "second.secrets", "tune.harmless") for row in rows(name)]
SIGNS = [
    "password=",
    "token: ",
    "'",
    '"',
    "\\",
    "\n",
    "\r\n",
    " ",
    "=",
    ":",
    ",",
    "-----BEGIN RSA PRIVATE KEY-----",
    "é",
    "\x1b[1m",
]
SIGNS += [
    "-----END RSA PRIVATE KEY-----",
    "sk-",
    "aB3dE5fG7hJ9kL1m",
    "\udc80",
    "İ",
    "%3D",
    "\\u0073ecret",
    "|",
    "{",
    "}",
    "eyJ",
    "://",
    "@",
    "+",
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.sampled_from(SIGNS) | st.text(max_size=12), max_size=30).map("".join)


def streamed(text: str, cuts: list[int]) -> str:
    redactor, shown, last = begun(["canary-value-1"]), [], 0
    for cut in sorted({*cuts, len(text)}):
        shown.append(redactor.feed(text[last:cut]))
        last = cut
    return "".join(shown) + redactor.close()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=TEXTS, data=st.data())
def test_cuts_make_no_difference(text: str, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=12))
    whole = streamed(text, [])
    assert streamed(text, cuts) == whole
    assert streamed(text, [i + 1 for i, c in enumerate(text) if c == "\n"]) == whole


@pytest.mark.parametrize(
    "after", ["", "password=swordfish77\n", "It has a password: swordfish77\n", "token=" + SIGNS[16]]
)
@pytest.mark.parametrize("foot", ["-----END RSA PRIVATE KEY-----\n", ""])
def test_a_key_is_hidden_whatever_is_hidden_behind_it(foot: str, after: str) -> None:
    body = "MIIEpAIBAAKCAQEA7bq3Zc0sWk1JfQ9x\nT2hV8nYd5RgLm4PuXo6KiEwBvCzNsAqF\n"
    shown = redact(f"-----BEGIN RSA PRIVATE KEY-----\n{body}{foot}{after}")
    assert not any(secret in shown for secret in (*body.split(), "swordfish77", SIGNS[16]))


def test_names_of_other_languages_count_before_an_english_one_too() -> None:
    assert redact("пароль=hunter22x\npassword=swordfish77\n") == "пароль=***\npassword=***\n"


@pytest.mark.parametrize("text", PIECES[::40])
def test_one_character_at_a_time(text: str) -> None:
    assert streamed(text, list(range(len(text)))) == redact(text, ["canary-value-1"])


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=TEXTS)
def test_any_text_is_looked_through_in_few_steps(text: str) -> None:
    streamed(text, [])  # what it knows of secrets is made ready when it is first needed
    with Steps(len(text), each=60, first=5_000):
        streamed(text, list(range(len(text))))


@pytest.mark.parametrize("row", rows("tune.secrets")[::9])
def test_masks_are_not_masked(row: dict[str, str]) -> None:
    once = redact(row["text"])
    assert redact(once) == once


def test_an_endless_line_is_shown_in_parts() -> None:
    redactor = begun()
    shown = [redactor.feed("x" * 10_000 + " ") for _ in range(100)]
    assert sum(map(len, shown)) > 800_000
    assert "".join(shown) + redactor.close() == ("x" * 10_000 + " ") * 100


@pytest.mark.parametrize("size", [131_060, 131_071, 131_072, 131_080, 262_140])
def test_a_secret_at_the_place_where_a_long_line_is_cut(size: int) -> None:
    text = ("ab " * size)[:size] + ' {"password": "swordfish77", "n": 1} ' + "yz " * 50_000
    assert "swordfish77" not in redact(text)
    assert streamed(text, list(range(0, len(text), 7_001))) == redact(text)


LINE, BACK = 512, 64  # characters of a line looked at together, and how far back a place to cut it is looked for


@pytest.fixture
def short_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut lines where little has to be looked at: at a few places in the tests above they are as long as they are."""
    monkeypatch.setattr(stream, "_LINE", LINE)
    monkeypatch.setattr(stream, "_GAP", BACK)


@pytest.mark.usefixtures("short_lines")
def test_a_line_that_is_too_long_is_cut_at_the_last_sign_that_may_stand_between_words() -> None:
    for sign in " ,;&}":
        for at, cut in (
            (LINE - 1, LINE),
            (LINE - 2, LINE - 1),
            (LINE - BACK, LINE - BACK + 1),
            (LINE - BACK - 1, LINE),
        ):
            text = "x" * at + sign + "x" * (LINE - at)
            assert begun().feed(text) == text[:cut], (sign, at)
            assert begun().feed(f"{text[: at - 9]} {text[at - 8 :]}") == f"{text[: at - 9]} {text[at - 8 : cut]}"
    redactor = begun()
    assert redactor.feed("x" * LINE) == "", "a line that is just not too long"
    assert redactor.feed("x") == "x" * LINE
    assert redactor.feed("y" * 2 * LINE) == "x" + "y" * (2 * LINE - 1)
    assert redactor.close() == "y"


@pytest.mark.usefixtures("short_lines")
@pytest.mark.parametrize("before", [0, 1, 2])
@pytest.mark.parametrize("more", [-1, 0, 1])
def test_a_line_that_ends_is_cut_where_one_is_that_has_not_ended(before: int, more: int) -> None:
    """Hide what crosses the end of a part as one secret, or as none, however the line came."""
    quoted = 'password="blue harbor 99x"'
    for end in ("", "\n"):
        line = "x" * LINE * before + "y" * (LINE - len(quoted) - len(end) + more - 1) + " " + quoted + end
        for text in (line, f"a\n{line}", f"a\n{line}{end and 'b'}"):
            assert redact(text).rpartition("password")[2].startswith('="***"') is (more < 1), (end, text[:2])
            assert streamed(text, list(range(0, len(text), LINE // 3))) == redact(text)


def test_known_values_are_masked_in_every_dress() -> None:
    import base64
    from urllib.parse import quote

    value = 'p@ss "wörd"/1%'
    known = [value]
    for text in (
        f"it is {value}!",
        f"x={quote(value, safe='')}&y",
        json.dumps({"a": value}),
        json.dumps({"a": json.dumps({"b": value})}),
        base64.b64encode(f"bob:{value}".encode()).decode(),
        base64.b64encode(f"user1:{value}:x".encode()).decode(),
        base64.urlsafe_b64encode(f"ab{value}".encode()).decode(),
    ):
        shown = redact(text, known)
        assert "***" in shown, text
        assert value not in shown


def test_masks_show_little() -> None:
    assert mask("short-secret-1234") == "***"
    assert mask("sk-abcdefghijklmnopq") == "sk-abc…nopq"
    assert mask("sk-abcdefghijklmnopq", whole=True) == "***"
    assert hidden("sk-abcdefghijklmnopq").startswith(MASKED)
    assert hidden("short") == "⟦secret⟧"
