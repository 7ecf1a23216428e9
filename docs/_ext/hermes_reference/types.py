"""The page of the types that cross the boundary."""

import enum
import inspect
from importlib import import_module

import attrs

from hermes_core import types
from hermes_reference.markdown import code, joined, table
from hermes_reference.source import doc, fields_of, tree_of, unquoted

GROUPS = {
    "content": "Content",
    "model": "Models",
    "events": "Sessions and events",
    "people": "People",
    "guarding": "Guards of commands",
    "views": "Laid out for a person",
    "turns": "Turns that plugins order",
    "work": "Work",
    "house": "The house",
    "base": "Words",
}


def page() -> str:
    """Every public name of ``hermes_core.types``."""
    parts = ["# Types", doc(types)]
    for module, title in GROUPS.items():
        found = import_module(f"hermes_core.types.{module}")
        tree, _ = tree_of(found)
        names = [n for n in _names_in_order(tree) if n in types.__all__]
        parts += [f"## {title}", *(_one(name, tree) for name in names)]
    return joined(*parts)


def _names_in_order(tree: object) -> list[str]:
    found = []
    for node in tree.body:  # type: ignore[attr-defined]
        target = getattr(node, "name", None) or getattr(getattr(node, "target", None), "id", None)
        if target is None and hasattr(node, "targets"):
            target = getattr(node.targets[0], "id", None)
        if target:
            found.append(target)
    return found


def _one(name: str, tree: object) -> str:
    thing = getattr(types, name)
    if inspect.isclass(thing) and issubclass(thing, enum.Enum):
        rows = [(code(f"{name}.{f.name}"), code(f.default), f.comment) for f in fields_of(thing)]
        return joined(f"### {name}", doc(thing), table(("member", "value", "meaning"), rows))
    if inspect.isclass(thing) and attrs.has(thing):
        return joined(f"### {name}", doc(thing), fields_table(thing))
    return joined(f"### {name}", f"`{name} = {_alias(name, tree)}`")


def _alias(name: str, tree: object) -> str:
    for node in tree.body:  # type: ignore[attr-defined]
        target = getattr(node, "target", None) or (getattr(node, "targets", None) or [None])[0]
        if getattr(target, "id", None) == name:
            return unquoted(node.value)
    raise LookupError(name)


def fields_table(cls: type) -> str:
    """The fields of an attrs class."""
    rows = [(code(f.name), code(f.type), code(f.default) or "required", f.comment) for f in fields_of(cls)]
    return table(("field", "type", "default", "meaning"), rows)
