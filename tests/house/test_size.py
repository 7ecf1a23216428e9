"""The kernel stays small, and so does every file."""

import tomllib
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[2]
BOUNDS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hermes"]["house"]
LISTED = "own.py"  # made from the folders of plugins: it grows with them
KERNEL = [p for p in (ROOT / "hermes_core").rglob("*.py") if not {"testing", "versions", LISTED} & set(p.parts)]
SOURCES = [*(ROOT / "hermes_core").rglob("*.py"), *ROOT.glob("plugins/*/src/**/*.py")]


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def longer_than(bound: int, paths: Iterable[Path]) -> dict[str, int]:
    return {str(path.relative_to(ROOT)): many for path in paths if (many := lines(path)) > bound}


def test_the_kernel_stays_within_its_bound() -> None:
    rooms = {p: lines(p) for p in KERNEL}
    assert sum(rooms.values()) <= BOUNDS["kernel_lines"], sorted(rooms.items(), key=lambda i: -i[1])[:10]


def test_a_file_stays_within_its_bound() -> None:
    written = [path for path in SOURCES if "versions" not in path.parts]  # those are generated with the schema
    assert longer_than(BOUNDS["file_lines"], written) == {}


def test_a_plugin_opens_with_its_hooks_and_little_else() -> None:
    first = sorted(ROOT.glob("plugins/*/src/*/__init__.py"))
    assert len(first) > 30
    assert longer_than(BOUNDS["plugin_init_lines"], first) == {}
