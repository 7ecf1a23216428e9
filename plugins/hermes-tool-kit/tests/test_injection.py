"""What is left out, and what is not: attacks in many disguises, and files that people really write."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tool_kit.injection import scan

DATA = Path(__file__).with_name("data")
BENIGN = (DATA / "benign.md").read_text(encoding="utf-8").split("=====\n")
HOSTILE = (DATA / "hostile.md").read_text(encoding="utf-8").split("=====\n")
CARRIER = BENIGN[1]


def test_there_are_enough_of_both() -> None:
    assert (len(BENIGN), len(HOSTILE)) == (30, 46)


@pytest.mark.parametrize("text", BENIGN, ids=lambda t: t.splitlines()[0][:30])
def test_what_people_write_is_read(text: str) -> None:
    assert scan(text) == ""


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_an_attack_is_left_out_alone_and_in_the_middle_of_a_good_file(text: str) -> None:
    assert scan(text)
    assert scan(f"{CARRIER}\n\n{text}\n\n{CARRIER}")


def test_one_file_after_the_other_is_still_benign() -> None:
    assert scan("\n\n".join(BENIGN)) == ""


@given(st.text(max_size=400))
def test_no_text_breaks_the_scan(text: str) -> None:
    assert isinstance(scan(text), str)


@pytest.mark.parametrize(
    "unit", ["<", "<!--", "curl @", "ignore all the ", "$(cat ", "a\u200b", "send all ", "`", "[INST", "base64 -d "]
)
@pytest.mark.few(2)
def test_a_text_made_to_be_slow_comes_to_an_end(unit: str) -> None:
    scan(unit * (40_000 // len(unit)))


@pytest.mark.long
def test_files_of_this_repository_are_read() -> None:
    root = Path(__file__).parents[3]
    pages = [page for page in root.glob("docs/**/*.md") if "reference" not in page.parts]  # made from the code
    files = [*root.glob("*.md"), *pages, *root.glob("plugins/*/README.md")]
    assert len(files) > 20
    shown = {root / "plugins/hermes-tool-context-files/README.md", root / "docs/how-to/personalities.md"}  # an attack
    assert {str(f): why for f in files if f not in shown and (why := scan(f.read_text(encoding="utf-8")))} == {}
