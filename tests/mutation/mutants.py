"""Small mistakes, one at a time: what a file becomes when one of its conditions, numbers or steps is wrong.

Left out is what no test should pin: texts for people (f-strings, what is raised, what is logged, ``__repr__``),
annotations, docstrings, decorators, ``__all__``, and words in tables: those are data, and corpora hold them.
"""

import ast
import re
import runpy
from collections import Counter
from collections.abc import Iterator
from copy import copy
from pathlib import Path
from types import CodeType
from typing import Any

from attrs import frozen

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip
_COUNTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip
_CALLED = {
    "min": "max", "max": "min", "any": "all", "all": "any", "startswith": "endswith", "endswith": "startswith",
    "partition": "rpartition", "rpartition": "partition", "find": "rfind", "rfind": "find", "lstrip": "rstrip",
    "rstrip": "lstrip", "fullmatch": "match", "match": "search", "search": "match",
}  # fmt: skip
_LOOKED_UP = {"get", "pop", "startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition"}
_LOGS = {"log", "_log", "logger", "logging", "warnings"}
_POINTS = {"die_at"}  # where tests of deaths kill a process of its own; nothing else sees them
_BOUND = 10  # from here on a number bounds something: it is lost, as one more or less matters to nobody
Place = tuple[str, str]  # what something is in, and the outermost function of it


@frozen
class Mistake:
    """``place`` names what it is in, empty for the module itself; ``number`` tells equal ones apart."""

    file: str
    place: str
    change: str
    number: int
    line: int

    @property
    def key(self) -> str:
        """What it is called in ``equivalent.toml``, whatever its line is."""
        return f"{self.file} {self.place or '(module)'} {self.change}" + (f" #{self.number}" if self.number else "")


@frozen
class Mutant(Mistake):
    """A mistake in code. ``function`` is the outermost one that it is in, empty for what is read once, when the module
    is imported. A test may see the mistake when it runs one of the ``lines``.
    """

    function: str
    lines: tuple[int, int]
    parent: ast.AST
    field: str
    index: int | None
    new: ast.AST

    def compiled(self, tree: ast.Module, path: str) -> CodeType:
        """The code of the file with the mistake; the tree is left as it was."""
        held = getattr(self.parent, self.field)
        wrong = self.new if self.index is None else [*held[: self.index], self.new, *held[self.index + 1 :]]
        setattr(self.parent, self.field, wrong)
        try:
            code: CodeType = compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)
            return code
        finally:
            setattr(self.parent, self.field, held)


@frozen
class Statement(Mistake):
    """A mistake in the SQL of a statement."""

    text: str


def mutants_of(path: Path, file: str) -> tuple[ast.Module, list[Mutant]]:
    """The tree of a file, and each mistake that can be made in it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for parent, field, index, old, new, (place, function), lines in _walk(tree, ("", ""), (1, 1)):
        change = f"{_said(old)} -> {_said(new)}"
        ast.copy_location(new, old)
        found.append(
            Mutant(file, place, change, seen[place, change], old.lineno, function, lines, parent, field, index, new)
        )
        seen[place, change] += 1
    return tree, found


def _said(node: ast.AST) -> str:
    """A node in one short line."""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 90 else f"{text[:60]} … {text[-27:]}"


def _walk(node: ast.AST, place: Place, lines: tuple[int, int]) -> Iterator[tuple[Any, ...]]:
    """(parent, field, index, old, new, place, lines) of every change below a node."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "type_params", "bases", "type_comment"):
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(child, ast.AST) or _left_out(child, node):
                continue
            around = _lines(child, lines)
            for new in _changes(child, node, field):
                yield node, field, index, child, new, place, around
            if not isinstance(child, ast.Raise):
                yield from _walk(child, _inside(child, node, place, field), around)


def _inside(child: ast.AST, parent: ast.AST, place: Place, field: str) -> Place:
    """What is in a function's body is in it; its defaults are not."""
    name, function = place
    if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        name = f"{name}.{child.name}".lstrip(".")
        return name, function or ("" if isinstance(child, ast.ClassDef) else name)
    if field == "args" and isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
        return name, "" if function == name else function
    return place


def _lines(node: ast.AST, lines: tuple[int, int]) -> tuple[int, int]:
    """The lines of a simple statement, of the head of one with a body."""
    if isinstance(node, ast.stmt | ast.match_case):
        body = getattr(node, "body", None) or getattr(node, "cases", None)
        first = node.lineno if isinstance(node, ast.stmt) else node.pattern.lineno
        below = (body[0].pattern if isinstance(body[0], ast.match_case) else body[0]).lineno if body else 0
        return first, max(first, below - 1) if body else node.end_lineno or first  # type: ignore[union-attr]
    if isinstance(node, ast.ExceptHandler):
        return node.lineno, node.lineno
    return lines


def _left_out(node: ast.AST, parent: ast.AST) -> bool:
    match node:
        case ast.JoinedStr() | ast.Assert() | ast.Import() | ast.ImportFrom():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return True
        case ast.Assign(targets=[ast.Name(id="TYPE_CHECKING" | "__all__" | "__slots__")]):
            return True
        case ast.AnnAssign(annotation=ast.Name(id="TypeAlias")):
            return True
        case ast.FunctionDef(name="__repr__" | "__str__") | ast.keyword(arg="hint" | "help" | "description" | "reason"):
            return True
        case ast.Expr(value=ast.Constant()):
            return True  # a docstring
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name))) if name in _LOGS:
            return True
        case ast.Call(func=ast.Name(id=name)) if name in _POINTS or name in ("cast", "TypeVar", "getLogger"):
            return True
        case ast.Expr(value=ast.Call() as call):
            return _left_out(call, node)
    return False


def _changes(node: ast.AST, parent: ast.AST, field: str) -> Iterator[ast.AST]:
    if isinstance(node, ast.stmt):
        yield from _steps(node)
    elif isinstance(node, ast.Constant):
        yield from _constants(node, parent, field)
    elif isinstance(node, ast.expr):
        yield from _expressions(node)
    if field in ("test", "ifs", "guard") and isinstance(node, ast.Name | ast.Call | ast.Attribute | ast.NamedExpr):
        yield ast.UnaryOp(ast.Not(), node)


def _steps(node: ast.stmt) -> Iterator[ast.AST]:
    match node:
        case ast.Expr() | ast.Raise() | ast.Delete():
            yield ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()
        case ast.AugAssign():
            yield ast.Pass()
            if other := _COUNTED.get(type(node.op)):
                yield ast.AugAssign(node.target, other(), node.value)
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield ast.Return(ast.Constant(None))
        case ast.Continue():
            yield ast.Break()
        case ast.Break():
            yield ast.Continue()


def _constants(node: ast.Constant, parent: ast.AST, field: str) -> Iterator[ast.AST]:
    value = node.value
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int | float):
        yield ast.Constant(value + 1 if abs(value) < _BOUND else 0)
    elif isinstance(value, str) and _is_option(parent):
        yield ast.Constant(f"XX{value}")  # a name that only goes on is still meant by its beginning
    elif isinstance(value, str | bytes) and _is_looked_up(parent, field):
        yield ast.Constant((value + "XX") if isinstance(value, str) else value + b"XX")


def _is_option(parent: ast.AST) -> bool:
    return isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr == "has"


def _is_looked_up(parent: ast.AST, field: str) -> bool:
    """Whether a text decides something here: it is compared, or names what is taken out of something."""
    match parent:
        case ast.Compare() | ast.MatchValue():
            return True
        case ast.Subscript():
            return field == "slice"
        case ast.Call(func=ast.Attribute(attr=name)):
            return field == "args" and name in _LOOKED_UP
    return False


def _expressions(node: ast.expr) -> Iterator[ast.AST]:
    match node:
        case ast.Compare():
            yield from _comparisons(node)
        case ast.BoolOp(values=[_, _]):
            yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        case ast.BoolOp():
            for i in range(len(node.values)):
                yield ast.BoolOp(node.op, node.values[:i] + node.values[i + 1 :])
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.BinOp(op=ast.BitOr(), right=ast.Constant(value=None)):
            return  # a type
        case ast.BinOp() if (other := _COUNTED.get(type(node.op))) and not _is_text(node.left, node.right):
            yield ast.BinOp(node.left, other(), node.right)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in _CALLED:
            func = copy(node.func)
            setattr(func, "id" if isinstance(func, ast.Name) else "attr", _CALLED[name])
            yield ast.Call(func, node.args, node.keywords)


def _comparisons(node: ast.Compare) -> Iterator[ast.Compare]:
    for i, op in enumerate(node.ops):
        ops = [*node.ops[:i], _COMPARED[type(op)](), *node.ops[i + 1 :]]
        yield ast.Compare(node.left, ops, node.comparators)
    for i, one in enumerate(node.comparators):
        for new in _shorter(one):
            yield ast.Compare(node.left, node.ops, [*node.comparators[:i], new, *node.comparators[i + 1 :]])


def _shorter(node: ast.expr) -> Iterator[ast.expr]:
    """What something is compared with, without one of its members."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set) and len(node.elts) > 1:
        for i in range(len(node.elts)):
            less = copy(node)
            less.elts = node.elts[:i] + node.elts[i + 1 :]
            yield less


def _is_text(*nodes: ast.expr) -> bool:
    values = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return any(isinstance(value, str) for value in values) or any(isinstance(node, ast.JoinedStr) for node in nodes)


# What may be wrong in SQL, behind the words where it begins: (begins, what is looked for, what it becomes).
_SET = r"\S+ ?= ?(?:'\w*'|:?\w+|\([^()]*\))"
_SQL = [(re.compile(begins), re.compile(pattern), new) for begins, pattern, new in (
    (r"\bWHERE\b", r" = ", " != "), (r"\bWHERE\b", r" != ", " = "),
    (r"\bWHERE\b", r" <= ", " < "), (r"\bWHERE\b", r" < ", " <= "),
    (r"\bWHERE\b", r" >= ", " > "), (r"\bWHERE\b", r" > ", " >= "),
    (r"\bWHERE\b", r" AND ", " OR "), (r"\bWHERE\b", r" OR ", " AND "),
    (r"\bWHERE\b", r" NOT IN ", " IN "), (r"\bWHERE\b", r"(?<!NOT) IN ", " NOT IN "),
    (r"\bWHERE\b", r"NOT \(EXISTS", "(EXISTS"), (r"\bWHERE\b", r"(?<!NOT )\(EXISTS", "(NOT EXISTS"),
    (r"\bWHERE\b", r" IS NULL", " IS NOT NULL"), (r"\bFROM\b", r" LIMIT \S+ OFFSET 0", ""),
    (r"\bFROM\b", r" DESC\b", ""), (r"\bFROM\b", r" ORDER BY [^()]+?(?= LIMIT|\)|$)", ""),
    (r"\b(?:SET|WHERE)\b", r"'\w*'", "'XX'"), (r"^", r"\bmin\(", "max("), (r"^", r"\bmax\(", "min("),
    (r"\bSET\b", r" \+ (?=1\b|:)", " - "),
    (r"\bSET\b", rf"(?<=SET ){_SET}, ", ""), (r"\bSET\b", rf", {_SET}(?=,| WHERE|$)", ""),
)]  # fmt: skip


def statements_of(path: Path, file: str, names: str) -> list[Statement]:
    """Each mistake that can be made in the statements of a file whose names match a pattern."""
    source, found = path.read_text(encoding="utf-8"), []
    for name, text in runpy.run_path(str(path))["SQL"].items():
        line = source[: source.index(f'    "{name}": ')].count("\n") + 1
        seen: Counter[str] = Counter()
        for begins, pattern, new in _SQL if re.fullmatch(names, name) else ():
            if (begin := begins.search(text)) is None:
                continue
            for match in pattern.finditer(text, begin.start()):
                around = " ".join(text[max(0, match.start() - 40) : match.end() + 40].split())
                change = f"…{around}…: {match[0].strip()} -> {new.strip() or 'nothing'}"
                wrong = text[: match.start()] + new + text[match.end() :]
                found.append(Statement(file, name, change, seen[change], line, wrong))
                seen[change] += 1
    return found
