"""The kernel stays small, and so does every file."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BOUNDS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hermes"]["house"]
KERNEL = [p for p in (ROOT / "hermes_core").rglob("*.py") if not {"testing", "versions"} & set(p.parts)]
SOURCES = [*(ROOT / "hermes_core").rglob("*.py"), *ROOT.glob("plugins/*/src/**/*.py")]


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_the_kernel_stays_within_its_bound() -> None:
    rooms = {p: lines(p) for p in KERNEL}
    assert sum(rooms.values()) <= BOUNDS["kernel_lines"], sorted(rooms.items(), key=lambda i: -i[1])[:10]


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_file_stays_within_its_bound(path: Path) -> None:
    if "versions" in path.parts:  # generated with the schema
        return
    assert lines(path) <= BOUNDS["file_lines"]


@pytest.mark.parametrize("path", sorted(ROOT.glob("plugins/*/src/*/__init__.py")), ids=lambda p: p.parent.name)
def test_a_plugin_opens_with_its_hooks_and_little_else(path: Path) -> None:
    assert lines(path) <= BOUNDS["plugin_init_lines"]
