"""What distributions say is made from the folder, and holds for each of them."""

import tomllib

import published
import pytest
from published import PLUGINS, ROOT

PROJECTS = [tomllib.loads((f / "pyproject.toml").read_text("utf-8"))["project"] for f in (ROOT, *PLUGINS)]


def test_everything_is_as_the_folder_makes_it() -> None:
    found = [str(path.relative_to(ROOT)) for path in published.behind()]
    assert found == [], "python tests/house/published.py --write, then uv lock"


@pytest.mark.parametrize("project", PROJECTS, ids=lambda p: p["name"])
def test_a_distribution_says_what_an_index_shows(project: dict[str, object]) -> None:
    assert "version" in project["dynamic"]
    assert project["license-files"] == ["LICENSE"]
    assert project["urls"] == PROJECTS[0]["urls"]
    assert project["classifiers"] == PROJECTS[0]["classifiers"]


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda p: p.name)
def test_a_readme_leads_nowhere_that_an_index_does_not_have(plugin: published.Path) -> None:
    links = published.re.findall(r"\]\(([^)]+)\)", (plugin / "README.md").read_text("utf-8"))
    assert [link for link in links if not link.startswith(("https://", "#"))] == []


@pytest.mark.parametrize("plugin", [p for p in PLUGINS if (p / "src").is_dir()], ids=lambda p: p.name)
def test_its_types_are_for_others_too(plugin: published.Path) -> None:
    assert list(plugin.glob("src/*/py.typed"))


def test_a_plugin_that_is_left_out_is_told(tmp_path: published.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published, "PLUGINS", [one for one in PLUGINS if one.name != "hermes-backend-local"])
    behind = {str(path.relative_to(ROOT)) for path in published.behind()}
    assert {"pyproject.toml", "hermes_core/own.py"} <= behind
