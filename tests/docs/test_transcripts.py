"""What the documentation shows in a terminal is what really comes out."""

from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(
    str(p.relative_to(DOCS))
    for p in DOCS.rglob("*.md")
    if not {"_build", "reference"} & set(p.relative_to(DOCS).parts) and "```console\n" in p.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_shows_is_what_comes_out(page, play, model_server):
    wrong = play(DOCS / page, MODEL_SERVER=model_server)
    assert not wrong, "\n\n".join(wrong)


def test_the_tutorial_is_played():
    assert "tutorial/first-plugin.md" in PAGES
