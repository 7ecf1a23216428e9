"""The shape of a tool's code: its one function, what it takes, its description. Read from the text, never run."""

import ast
import copy
import keyword
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, Optional, Union, get_args, get_origin

from hermes_core.types import JSON
from hermes_core.values import frozen

PREFIX = "own_"
RESERVED = {"own_versions", "own_rollback"}  # the workshop's own
_NAME = re.compile(r"[a-z][a-z0-9_]{1,39}")
_ARGUMENT = re.compile(r"[a-z][a-z0-9_]{0,39}")
_SCALARS: Mapping[str, type] = {"str": str, "int": int, "float": float, "bool": bool}
_WORDS = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_MOST_ARGUMENTS = 20
_LONGEST = 2_000  # characters of a description; every request carries it
_DEEP = 4  # levels of a type
_KINDS = "str, int, float, bool, Literal[…], list[…], dict[str, …], … | None, or Annotated[…, 'what it is']"


@frozen(kw_only=True)
class Argument:
    """One argument. ``default`` is what it is when it is not ``required`` and not given."""

    name: str
    kind: Any
    required: bool = True
    default: Any = None
    help: str = ""


@frozen(kw_only=True)
class Shape:
    """A tool as its code tells it."""

    entry: str
    description: str
    arguments: tuple[Argument, ...]

    def schema(self) -> dict[str, JSON]:
        """What a model is told of the arguments, and what each call is held to."""
        told = {one.name: _told(one) for one in self.arguments}
        required = [one.name for one in self.arguments if one.required]
        shape: dict[str, JSON] = {"type": "object", "properties": told, "additionalProperties": False}
        return {**shape, "required": required} if required else shape

    def filled(self, given: Mapping[str, JSON]) -> dict[str, JSON]:
        """The arguments of a call, with the defaults of those that are not given, and each number of its type."""
        values = {one.name: copy.deepcopy(one.default) for one in self.arguments if not one.required}
        return values | {one.name: _typed(one.kind, given[one.name]) for one in self.arguments if one.name in given}


def _told(one: Argument) -> dict[str, JSON]:
    said = schema_of(one.kind)
    if one.help:
        said["description"] = one.help
    if isinstance(one.default, str | int | float) and one.default != "":
        said["default"] = one.default
    return said


def schema_of(kind: Any) -> dict[str, JSON]:
    """The JSON Schema of a type that an annotation named."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind in _WORDS:
        return {"type": _WORDS[kind]}
    if origin is Literal:
        texts: dict[str, JSON] = {"type": "string"} if all(type(one) is str for one in inner) else {}
        return {**texts, "enum": list(inner)}
    if origin is list:
        return {"type": "array", "items": schema_of(inner[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(inner[1])}
    return {"anyOf": [schema_of(one) for one in inner]}


def _typed(kind: Any, value: JSON) -> JSON:
    """A number as the annotation has it: in JSON 3 and 3.0 are one."""
    return kind(value) if kind in (int, float) and type(value) in (int, float) else value


class Wrong(Exception):
    """A part that cannot be understood: the line, and why."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}")


def is_tool(name: str) -> bool:
    """Tell whether a folder that is called so can be one of a tool that was written."""
    return name.startswith(PREFIX) and bool(_ARGUMENT.fullmatch(name.removeprefix(PREFIX)))


def full_name(name: str) -> str:
    """The name a tool goes by, from the one the model gave it. Raises ValueError that says what a name is."""
    short = name.removeprefix(PREFIX)
    if not _NAME.fullmatch(short) or keyword.iskeyword(short) or f"{PREFIX}{short}" in RESERVED:
        raise ValueError(
            f"name: {name[:80]!r} cannot be the name of a tool; use 2 to 40 of a-z, 0-9 and _, beginning with a letter"
        )
    return f"{PREFIX}{short}"


def read_shape(tree: ast.Module) -> tuple[Shape | None, list[str]]:
    """The shape of a module, or None; and every problem, with its line."""
    problems = list(_loose(tree))
    entries = [n for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef) and n.name[:1] != "_"]
    if len(entries) != 1:
        found = ", ".join(f"{n.name} (line {n.lineno})" for n in entries) or "none"
        problems.append(
            f"the code needs exactly one function whose name does not begin with _; there is: {found}. "
            "Let the names of helpers begin with _"
        )
        return None, problems
    entry = entries[0]
    problems += _entry_problems(entry)
    arguments = []
    for one, default in _pairs(entry):
        try:
            arguments.append(_argument(one, default))
        except Wrong as wrong:
            problems.append(str(wrong))
    description = ast.get_docstring(entry) or ""
    shape = Shape(entry=entry.name, description=description, arguments=tuple(arguments))
    return (None if problems else shape), problems


def _loose(tree: ast.Module) -> Iterator[str]:
    """Statements that would run when the code is loaded."""
    for number, node in enumerate(tree.body):
        quiet = isinstance(
            node,
            ast.Import
            | ast.ImportFrom
            | ast.FunctionDef
            | ast.AsyncFunctionDef
            | ast.ClassDef
            | ast.Assign
            | ast.AnnAssign,
        )
        if not quiet and not (number == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            yield f"line {node.lineno}: outside of functions, only imports, constants, classes and functions may stand"


def _entry_problems(entry: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    where, given = f"line {entry.lineno}", entry.args
    if isinstance(entry, ast.AsyncFunctionDef):
        yield f"{where}: write a plain def, not async def"
    if entry.decorator_list:
        yield f"{where}: {entry.name} takes no decorators"
    if any(isinstance(n, ast.Yield | ast.YieldFrom) for n in ast.walk(entry)):
        yield f"{where}: {entry.name} must return its result, not yield it"
    if given.vararg or given.kwarg or given.posonlyargs:
        yield f"{where}: {entry.name} takes plain named arguments, no *args, **kwargs or /"
    if len(given.args) + len(given.kwonlyargs) > _MOST_ARGUMENTS:
        yield f"{where}: {_MOST_ARGUMENTS} arguments are the most"
    text = ast.get_docstring(entry) or ""
    size = len(text.strip())
    if size < 10:
        short = f"; its docstring of {size} characters is too short, 10 are the least" if size else ""
        said = f"{entry.name} needs a docstring that says what it does{short}"
        yield f"{where}: {said}; you will read it as its description"
    elif len(text) > _LONGEST:
        yield f"{where}: the docstring has {len(text):,} characters; {_LONGEST:,} is the most"


def _pairs(entry: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    given = entry.args
    missing: list[ast.expr | None] = [None] * (len(given.args) - len(given.defaults))
    yield from zip(given.args, [*missing, *given.defaults], strict=True)
    yield from zip(given.kwonlyargs, given.kw_defaults, strict=True)


def _argument(one: ast.arg, default: ast.expr | None) -> Argument:
    if not _ARGUMENT.fullmatch(one.arg):
        raise Wrong(one.lineno, f"the argument {one.arg[:80]!r} needs a name of a-z, 0-9 and _")
    if one.annotation is None:
        raise Wrong(one.lineno, f"the argument {one.arg} needs a type: {_KINDS}")
    kind, text = _kind(one.annotation, 0), ""
    if isinstance(kind, _Noted):
        kind, text = kind.kind, kind.text
    if default is None:
        return Argument(name=one.arg, kind=kind, help=text)
    try:
        value = ast.literal_eval(default)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise Wrong(one.lineno, f"the default of {one.arg} must be a plain value, not computed") from None
    if not fits(kind, value):
        raise Wrong(one.lineno, f"the default of {one.arg} is not of its type")
    return Argument(name=one.arg, kind=kind, required=False, default=value, help=text)


@frozen
class _Noted:
    kind: Any
    text: str


def _kind(node: ast.expr, depth: int) -> Any:
    """The type that an annotation names. Raises Wrong."""
    if depth > _DEEP:
        raise Wrong(node.lineno, f"a type is nested more than {_DEEP} deep")
    if isinstance(node, ast.Constant) and node.value is None:
        return type(None)
    if isinstance(node, ast.Name) and node.id in _SCALARS:
        return _SCALARS[node.id]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union(node, (node.left, node.right), depth)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return _generic(node, node.value.id, inner, depth)
    raise Wrong(node.lineno, f"{ast.unparse(node)[:60]!r} cannot be told to you as JSON; use {_KINDS}")


def _generic(node: ast.expr, name: str, inner: list[ast.expr], depth: int) -> Any:
    if name in ("list", "List") and len(inner) == 1:
        return list[_solid(inner[0], depth)]  # type: ignore[misc]
    if name in ("dict", "Dict") and len(inner) == 2 and _kind(inner[0], depth + 1) is str:
        return dict[str, _solid(inner[1], depth)]  # type: ignore[misc]
    if name == "Optional" and len(inner) == 1:
        return Optional[_solid(inner[0], depth)]  # noqa: UP045 - a type made of a value
    if name == "Union" and inner:
        return _union(node, tuple(inner), depth)
    if name == "Literal" and (values := [_literal(one) for one in inner]) and None not in values:
        return Literal[tuple(values)]
    noted = inner[1].value if name == "Annotated" and len(inner) == 2 and isinstance(inner[1], ast.Constant) else None
    if isinstance(noted, str) and depth == 0:
        return _Noted(_solid(inner[0], depth), noted[:300])
    raise Wrong(node.lineno, f"{ast.unparse(node)[:60]!r} cannot be told to you as JSON; use {_KINDS}")


def _literal(node: ast.expr) -> str | int | bool | None:
    """A value that Literal may hold, or None."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if type(value) in (str, int, bool) else None


def _solid(node: ast.expr, depth: int) -> Any:
    kind = _kind(node, depth + 1)
    if kind is type(None):
        raise Wrong(node.lineno, "None alone is no type")
    return kind


def _union(node: ast.expr, inner: tuple[ast.expr, ...], depth: int) -> Any:
    kinds = tuple(_kind(one, depth + 1) for one in inner)
    if all(kind is type(None) for kind in kinds):
        raise Wrong(node.lineno, "None alone is no type")
    return Union[kinds]  # noqa: UP007 - a type made of values


def fits(kind: Any, value: JSON) -> bool:
    """Whether a default is of its type, as the kernel will check what is given."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is float:
        return type(value) in (int, float)
    if kind in _SCALARS.values() or kind is type(None):
        return type(value) is kind
    if origin is Literal:
        return any(value == one and type(value) is type(one) for one in inner)
    if origin is list:
        return isinstance(value, list) and all(fits(inner[0], one) for one in value)
    if origin is dict:
        return isinstance(value, dict) and all(isinstance(k, str) and fits(inner[1], v) for k, v in value.items())
    return any(fits(one, value) for one in inner)
