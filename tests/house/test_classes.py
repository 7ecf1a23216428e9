"""Objects are put together, not cut: a class has few public methods, and none is only there to be the base of one."""

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
MOST = 20  # public methods of a class, with those it inherits from ours
OF_A_FRAMEWORK = (
    "compose",
    "on_",
    "action_",
    "watch_",
    "validate_",
    "key_",
    "visit_",
)  # not called by ours
PUBLIC = ("hermes_core/kinds/", "hermes_core/testing/")  # others inherit from these
# Made of the API's document, a method for each request; what sends them is written by hand, in a file of its own.
MADE = {"hermes_client.api.Client", "hermes_client.wire.Wire"}


class Class(NamedTuple):
    module: str
    node: ast.ClassDef
    path: Path

    @property
    def label(self) -> str:
        return f"{self.module}.{self.node.name}"


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[3:] if parts[0] == "plugins" else parts).removesuffix(".__init__")


@cache
def trees() -> dict[str, tuple[Path, ast.Module]]:
    paths = [*(ROOT / "hermes_core").rglob("*.py"), *ROOT.glob("plugins/*/src/**/*.py")]
    return {module_of(p): (p, ast.parse(p.read_text(encoding="utf-8"))) for p in paths if "versions" not in p.parts}


@cache
def classes() -> dict[str, Class]:
    found = [Class(m, n, p) for m, (p, tree) in trees().items() for n in tree.body if isinstance(n, ast.ClassDef)]
    return {one.label: one for one in found}


def resolved(module: str, name: str, depth: int = 0) -> Class | None:
    """The class of ours that a name means in a module."""
    if found := classes().get(f"{module}.{name}"):
        return found
    for node in ast.walk(trees()[module][1]) if module in trees() and depth < 5 else ():
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return resolved(node.module, alias.name, depth + 1)
    return None


def bases(one: Class) -> Iterator[Class]:
    for base in one.node.bases:
        base = base.value if isinstance(base, ast.Subscript) else base
        if isinstance(base, ast.Name) and (found := resolved(one.module, base.id)):
            yield found


def public_methods(one: Class) -> set[str]:
    own = {n.name for n in one.node.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}
    own = {name for name in own if not name.startswith(("_", "test_", *OF_A_FRAMEWORK))}
    return own.union(*(public_methods(base) for base in bases(one)))


@pytest.mark.long
def test_no_class_has_many_public_methods() -> None:
    many = {one.label: len(public_methods(one)) for one in classes().values()}
    assert len(many) > 500
    assert {name: count for name, count in many.items() if count > MOST and name not in MADE} == {}


@pytest.mark.long
def test_no_class_is_only_a_part_of_another() -> None:
    heirs = Counter(base.label for one in classes().values() for base in bases(one))
    named: Counter[str] = Counter()
    for _, tree in trees().values():
        inherited = {id(base) for n in ast.walk(tree) if isinstance(n, ast.ClassDef) for base in n.bases}
        named.update(n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in inherited)
        named.update(n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute))
    only = {
        label
        for label, count in heirs.items()
        if count == 1 and not named[label.rpartition(".")[2]] and not is_public(classes()[label])
    }
    assert only - MADE == set()


def is_public(one: Class) -> bool:
    """Whether others may inherit from it: what is on the ground floor, and what is for their tests."""
    place = str(one.path.relative_to(ROOT))
    return place.startswith(PUBLIC) or (place.startswith("hermes_core/") and place.count("/") == 1)
