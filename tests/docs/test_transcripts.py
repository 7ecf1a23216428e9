"""What the documentation shows in a terminal is what really comes out."""

from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(
    str(p.relative_to(DOCS))
    for p in DOCS.rglob("*.md")
    if not {"_build", "reference"} & set(p.relative_to(DOCS).parts) and "```console\n" in p.read_text(encoding="utf-8")
)
SERVER = "how-to/postgresql.md"  # needs one


@pytest.mark.parametrize("page", [pytest.param(p, marks=[pytest.mark.real] if p == SERVER else []) for p in PAGES])
def test_what_a_page_shows_is_what_comes_out(page, play, model_server, request):
    more = {"STORE_URL": request.getfixturevalue("database_url")} if page == SERVER else {}
    wrong = play(DOCS / page, MODEL_SERVER=model_server, **more)
    assert not wrong, "\n\n".join(wrong)


def test_the_tutorial_is_played():
    assert "tutorial/first-plugin.md" in PAGES
