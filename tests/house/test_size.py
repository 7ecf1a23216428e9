"""The kernel stays small, and so does every file."""

import ast
import io
import tokenize
import tomllib
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[2]
BOUNDS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hermes"]["house"]
LISTED = "own.py"  # made from the folders of plugins: it grows with them
NEEDS = {
    file.parent: file.read_text("utf-8") for file in [ROOT / "pyproject.toml", *ROOT.glob("plugins/*/pyproject.toml")]
}

SILENT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE),
    *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def only_the_kernels() -> list[Path]:
    """The libraries that nobody but the kernel needs: they are the kernel, wherever they lie."""
    named = tomllib.loads(NEEDS[ROOT])["project"]["dependencies"]
    ours = [one.partition(">")[0] for one in named if one.startswith("hermes-")]
    others = {
        name: [f for f, text in NEEDS.items() if f not in (ROOT, ROOT / "plugins" / name) and f'"{name}>' in text]
        for name in ours
    }
    return [ROOT / "plugins" / name / "src" for name, users in others.items() if not users]


ROOMS = [ROOT / "hermes_core", *only_the_kernels()]
KERNEL = [p for room in ROOMS for p in room.rglob("*.py") if not {"testing", "versions", LISTED} & set(p.parts)]
SOURCES = [*(ROOT / "hermes_core").rglob("*.py"), *ROOT.glob("plugins/*/src/**/*.py")]


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def longer_than(bound: int, paths: Iterable[Path]) -> dict[str, int]:
    return {str(path.relative_to(ROOT)): many for path in paths if (many := lines(path)) > bound}


def code_lines(path: Path) -> int:
    """Lines with code on them: no blank ones, no comments, no docstrings."""
    text = path.read_text(encoding="utf-8")
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SILENT:
            found.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            found.difference_update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(found)


def test_the_kernel_stays_within_its_bound() -> None:
    rooms = {p: lines(p) for p in KERNEL}
    assert sum(rooms.values()) <= BOUNDS["kernel_lines"], sorted(rooms.items(), key=lambda i: -i[1])[:10]


def test_so_does_its_code() -> None:
    assert sum(map(code_lines, KERNEL)) <= BOUNDS["kernel_code_lines"]


def test_a_file_stays_within_its_bound() -> None:
    written = [path for path in SOURCES if "versions" not in path.parts]  # those are generated with the schema
    assert longer_than(BOUNDS["file_lines"], written) == {}


def test_a_plugin_opens_with_its_hooks_and_little_else() -> None:
    first = sorted(ROOT.glob("plugins/*/src/*/__init__.py"))
    assert len(first) > 30
    assert longer_than(BOUNDS["plugin_init_lines"], first) == {}
