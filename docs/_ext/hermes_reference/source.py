"""Reading a module's source: what annotations and comments say, as the author wrote them."""

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

REPOSITORY = Path(__file__).parents[3]


class Field(NamedTuple):
    """One field or attribute of a class, or one member of an enum."""

    name: str
    type: str
    default: str
    comment: str


@cache
def tree_of(module: ModuleType) -> tuple[ast.Module, tuple[str, ...]]:
    """The syntax tree and lines of a module."""
    text = inspect.getsource(module)
    return ast.parse(text), tuple(text.splitlines())


def class_node(cls: type) -> tuple[ast.ClassDef, tuple[str, ...]]:
    """A class's syntax and the lines of its module. Raises LookupError."""
    module = inspect.getmodule(cls)
    if module is None:
        raise LookupError(cls)
    tree, lines = tree_of(module)
    found = next((n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and n.name == cls.__name__), None)
    if found is None:
        raise LookupError(cls)
    return found, lines


def fields_of(cls: type) -> list[Field]:
    """The annotated attributes of a class body, in order; of an enum, its members."""
    node, lines = class_node(cls)
    found = []
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            default = literal(item.value) if item.value is not None else ""
            found.append(Field(item.target.id, unquoted(item.annotation), _default(default), _comment(lines, item)))
        elif isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name):
            found.append(Field(item.targets[0].id, "", literal(item.value), _comment(lines, item)))
    return [f for f in found if not f.name.startswith("_") and f.name != "__slots__"]


def methods_of(cls: type) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """The public methods and properties of a class body, in order."""
    node, _ = class_node(cls)
    for item in node.body:
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) and not item.name.startswith("_"):
            yield item.name, item


def header(node: ast.FunctionDef | ast.AsyncFunctionDef, name: str = "") -> str:
    """The first line of a function, without its body: name, parameters, result. Long ones take a line a parameter."""
    word = "" if name else "async def " if isinstance(node, ast.AsyncFunctionDef) else "def "
    result = f" -> {unquoted(node.returns)}" if node.returns and not name else ""
    given = _parameters(node.args)
    if name and given[:1] == ["self"]:
        given = given[1:]
    line = f"{word}{name or node.name}({', '.join(given)}){result}"
    if len(line) <= 100:
        return line
    inner = "".join(f"    {one},\n" for one in given)
    return f"{word}{name or node.name}(\n{inner}){result}"


def _parameters(args: ast.arguments) -> list[str]:
    plain = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [*[None] * (len(plain) - len(args.defaults)), *args.defaults]
    found = [_parameter(one, default) for one, default in zip(plain, defaults, strict=True)]
    if args.posonlyargs:
        found.insert(len(args.posonlyargs), "/")
    if args.vararg:
        found.append("*" + _parameter(args.vararg, None))
    elif args.kwonlyargs:
        found.append("*")
    found += [_parameter(one, default) for one, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    return found + (["**" + _parameter(args.kwarg, None)] if args.kwarg else [])


def _parameter(one: ast.arg, default: ast.expr | None) -> str:
    kind = f": {unquoted(one.annotation)}" if one.annotation else ""
    if default is None:
        return f"{one.arg}{kind}"
    return f"{one.arg}{kind}{' = ' if kind else '='}{literal(default)}"


def decorators(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """The names of a function's decorators."""
    return [ast.unparse(d) for d in node.decorator_list]


def doc(thing: Any) -> str:
    """A docstring as Markdown: reStructuredText's double backticks become single ones."""
    text = inspect.getdoc(thing) if not isinstance(thing, ast.AST) else ast.get_docstring(thing)  # type: ignore[arg-type]
    return re.sub(r"``(.+?)``", r"`\1`", text or "")


class _Unquoted(ast.NodeTransformer):
    """Forward references without their quotes; what stands in a Literal is left alone."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        return node if getattr(node.value, "id", "") == "Literal" else self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return self.visit(ast.parse(node.value, mode="eval").body) if isinstance(node.value, str) else node


def unquoted(node: ast.expr | None) -> str:
    """An annotation as a reader wants it."""
    return literal(_Unquoted().visit(ast.parse(ast.unparse(node), mode="eval").body)) if node is not None else ""


def literal(node: ast.AST) -> str:
    """An expression as the house writes it, with double quotes."""
    return re.sub(r"'([^'\"]*)'", r'"\1"', ast.unparse(node))


def _default(text: str) -> str:
    match = re.fullmatch(r"(?:Factory|field)\((.*)\)", text)
    if not match:
        return text
    if text.startswith("Factory"):
        return {"dict": "{}", "Principal": "Principal()"}.get(match[1], match[1])
    if found := re.search(r"\bdefault=([^,)]+(?:\(\))?)", match[1]):
        return found[1]
    return "{}" if "factory=dict" in match[1] else ""


def _comment(lines: tuple[str, ...], node: ast.stmt) -> str:
    line = lines[(node.end_lineno or node.lineno) - 1]
    _, mark, comment = line.partition("  # ")
    return re.sub(r"``(.+?)``", r"`\1`", re.sub(r"\s*#?\s*(noqa|type): .*", "", comment)) if mark else ""
