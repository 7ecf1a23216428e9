"""What the documentation shows in a terminal is what really comes out."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.long

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


SAID = """when      tool  outcome  seconds  arguments
just now  roll  ok       0.0      {'sides': 0.5}
just now  roll  failed   0.3      {}
took 0.02 s, cost 0.0
"""


@pytest.mark.parametrize(
    ("promised", "said"),
    [
        ("ok       0.0      {'sides'", "ok       12.3     {'sides'"),
        ("just now  roll  failed", "2 min ago  roll  failed"),
        ("took 0.02 s", "took 1.25 s"),
    ],
)
def test_how_long_something_took_is_no_promise(promised, said, tmp_path, play):
    assert promised in SAID
    (tmp_path / "said").write_text(SAID.replace(promised, said))
    (tmp_path / "page.md").write_text(f"```console\n$ cat {tmp_path}/said\n{SAID}```\n")
    assert play(tmp_path / "page.md") == []


@pytest.mark.parametrize(
    ("promised", "said"),
    [
        ("'sides': 0.5", "'sides': 0.6"),
        ("cost 0.0", "cost 0.1"),
        ("failed   0.3  ", "failed        "),
        ("0.02 s", "soon"),
    ],
)
def test_every_other_figure_is(promised, said, tmp_path, play):
    assert promised in SAID
    (tmp_path / "said").write_text(SAID.replace(promised, said))
    (tmp_path / "page.md").write_text(f"```console\n$ cat {tmp_path}/said\n{SAID}```\n")
    assert len(play(tmp_path / "page.md")) == 1
