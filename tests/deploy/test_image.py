"""What the image's recipe promises, as far as it can be read. ``deploy/check-image.sh`` looks at a built one."""

import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECIPE = (ROOT / "Dockerfile").read_text()
STEPS = re.findall(r"^([A-Z]+) ", RECIPE, re.MULTILINE)
LAST = RECIPE[RECIPE.rindex("\nFROM ") :]


def test_it_runs_as_nobody_special_below_tini_and_can_be_asked():
    assert re.search(r"^USER (\d+):(\d+)$", LAST, re.MULTILINE)
    assert 'ENTRYPOINT ["tini", "--", "hermes"]' in LAST
    assert "HEALTHCHECK" in LAST
    assert "STOPSIGNAL SIGTERM" in LAST
    port = re.findall(r"^EXPOSE (\d+)$", LAST, re.MULTILINE)
    assert f'"0.0.0.0:{port[0]}"]' in LAST
    assert f"http://127.0.0.1:{port[0]}/healthz" in LAST


def test_nothing_of_the_build_is_left_in_it():
    copied = re.findall(r"^COPY (.*)$", LAST, re.MULTILINE)
    assert copied == ["--from=build /opt/hermes /opt/hermes"]


def test_every_base_can_be_replaced():
    assert set(re.findall(r"^FROM (\S+)", RECIPE, re.MULTILINE)) == {"${BASE}", "${UV}"}


def ignored(path: str) -> bool:
    """As docker reads .dockerignore: the last line that fits decides."""
    found = False
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        pattern, out = line.removeprefix("!"), not line.startswith("!")
        ways = [pattern, f"{pattern}/*"] + ([pattern[3:], f"{pattern[3:]}/*"] if pattern.startswith("**/") else [])
        if any(fnmatch(path, way) for way in ways):
            found = out
    return found


@pytest.mark.parametrize(
    "path",
    [
        ".env", "home/.env", "hermes_core/.env", ".git/config", "state.db", "plugins/x/state.db", ".venv/bin/python",
        "hermes_core/cli/__pycache__/main.pyc", "docs/index.md", "tests/conftest.py", "plugins/x/tests/test_x.py",
    ],
)  # fmt: skip
def test_what_is_no_part_of_it_does_not_go_in(path: str):
    assert ignored(path)


def test_what_is_built_from_goes_in():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    needed = ["pyproject.toml", "uv.lock", "README.md", "hermes_core/cli/main.py", "plugins/hermes-tool-web/README.md"]
    assert not [path for path in needed if ignored(path)]
    assert "all" in project["project"]["optional-dependencies"]  # what EXTRAS is without a word
