"""No import goes round in a circle: not at the top of a module or in a function, for types alone, or by a string."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
FACADE = "hermes_core"  # lends names to those outside, lazily; in here nobody asks it for any


def name_of(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def code(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node but docstrings."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        yield node
        yield from code(node)


def imported(node: ast.AST, inside: str) -> Iterator[str]:
    """The dotted names that a node may import; one with a dot at its end means all below it."""
    if isinstance(node, ast.Import):
        yield from (one.name for one in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = inside.split(".")[: -node.level] if node.level else []
        base = ".".join([*above, *filter(None, [node.module])])
        for one in node.names:
            yield f"{base}.{one.name}"
            yield base
    elif isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
        if (start := f"{node.values[0].value}").startswith(f"{FACADE}."):
            yield start.rpartition(".")[0] + "."
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value.partition(":")[0].rstrip(".")


def graph(root: Path) -> dict[str, set[str]]:
    """Each module with those that it imports, whenever it does."""
    paths = {name_of(path, root): path for path in root.glob(f"{FACADE}/**/*.py") if "templates" not in path.parts}
    edges: dict[str, set[str]] = {name: set() for name in paths}
    for name, path in paths.items():
        if name == FACADE:
            continue
        package = f"{name}.__init__" if path.stem == "__init__" else name
        for node in code(ast.parse(path.read_text(encoding="utf-8"))):
            for wanted in imported(node, package):
                meant = (
                    [one for one in paths if one.startswith(wanted)]
                    if wanted[:1] != "." and wanted.endswith(".")
                    else [wanted]
                )
                edges[name].update(set(meant) & paths.keys() - {name, FACADE})
    return edges


def circle(edges: dict[str, set[str]]) -> list[str]:
    """One circle; empty where there is none."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_import_goes_round() -> None:
    assert circle(graph(ROOT)) == []


def test_the_facade_is_for_those_outside() -> None:
    rooms = {path.stem for path in (ROOT / FACADE).iterdir()} | {"__version__"}
    for path in ROOT.glob(f"{FACADE}/**/*.py"):
        for node in code(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == FACADE and name_of(path, ROOT) != FACADE:
                assert {one.name for one in node.names} <= rooms, f"{path} asks the facade"


def written(tmp_path: Path, **modules: str) -> dict[str, set[str]]:
    for name, text in {"__init__": "", **modules}.items():
        path = tmp_path / FACADE / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return graph(tmp_path)


def test_a_circle_is_found_wherever_it_is_hidden(tmp_path: Path) -> None:
    for number, back in enumerate((
        "import hermes_core.one",
        "from hermes_core.one import x",
        "from hermes_core import one",
        "from . import one",
        "def late():\n    from hermes_core.one import x",
        "def late():\n    return import_module('hermes_core.one')",
        "def late(name):\n    return import_module(f'hermes_core.{name}')",
        "TABLE = {'x': 'hermes_core.one:x'}",
        "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from hermes_core.one import x",
    )):  # fmt: skip
        found = written(tmp_path / str(number), one="from hermes_core import two", two=back)
        assert {"hermes_core.one", "hermes_core.two"} <= set(circle(found)), back
