"""What expressions of Python come to, as far as their texts tell: paths mostly."""

import ast
import os
from collections.abc import Sequence
from itertools import product

from hermes_tool_guard.judgement import DERIVED, LISTED

__all__ = ["Values", "dotted"]

_MOST = 8  # values of one expression
_SAME = frozenset(
    [
        "str",
        "Path",
        "PurePath",
        "PosixPath",
        "PurePosixPath",
        "fspath",
        "expanduser",
        "abspath",
        "realpath",
        "normpath",
        "resolve",
        "absolute",
        "expandvars",
        "strip",
        "rstrip",
        "sorted",
        "list",
        "tuple",
        "set",
        "reversed",
        "iter",
        "as_posix",
        "lower",
        "upper",
        "format",
        "rglob_",
    ]
)
_LISTS = frozenset({"iterdir", "listdir", "scandir", "walk", "fwalk"})
_PICKS_ALL = ("*", "**", "**/*", ".*", "*.*", "", "**/.*")


def dotted(node: ast.expr) -> str:
    """A name with dots, or nothing."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


class Values:
    """What variables were set to, and what expressions come to; unknown parts are marked."""

    def __init__(self, home: str, folders: Sequence[str], arguments: Sequence[str]) -> None:
        self.home = home
        self.folders = folders
        self.arguments = arguments
        self.parts: dict[str, str] = {}  # names that stand for something in a module
        self._known: dict[str, list[str]] = {}

    def set(self, target: ast.expr, values: list[str]) -> None:
        """A variable gets values, besides those it had before."""
        if isinstance(target, ast.Name):
            before = self._known.get(target.id, [])
            together = list(dict.fromkeys([*before, *values]))
            self._known[target.id] = together if len(together) <= _MOST else [DERIVED]
        elif isinstance(target, (ast.Tuple, ast.List)):
            for one in target.elts:
                self.set(one, values)
        elif isinstance(target, ast.Starred):
            self.set(target.value, values)

    def walked(self, target: ast.expr, node: ast.expr) -> None:
        """The variables of a loop get what it goes through."""
        if (
            isinstance(target, ast.Tuple)
            and isinstance(node, ast.Call)
            and self._called(node) in ("walk", "fwalk")
            and len(target.elts) >= 2
        ):
            self.set(target.elts[0], [f"{one.rstrip('/')}/*" for one in self._of(node)])
            for other in target.elts[1:]:
                self.set(other, ["*"])
            return
        if isinstance(node, ast.Call) and self._called(node) == "enumerate" and node.args:
            node = node.args[0]
        self.set(target, self.of(node))

    def of(self, node: ast.expr | None, depth: int = 0) -> list[str]:
        """What an expression may come to, as texts."""
        if node is None or depth > 20:
            return [DERIVED]
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        found: list[str] = method(node, depth + 1) if method else [DERIVED]
        return found if 0 < len(found) <= _MOST else [DERIVED]

    def _constant(self, node: ast.Constant, _depth: int) -> list[str]:
        if isinstance(node.value, bytes):
            return [node.value.decode(errors="replace")]
        return [str(node.value)]

    def _name(self, node: ast.Name, _depth: int) -> list[str]:
        return self._known.get(node.id, [DERIVED])

    def _joinedstr(self, node: ast.JoinedStr, depth: int) -> list[str]:
        parts = [self.of(p.value if isinstance(p, ast.FormattedValue) else p, depth) for p in node.values]
        return self._joined(parts) if parts else [""]

    def _joined(self, parts: Sequence[Sequence[str]], between: str = "") -> list[str]:
        total = 1
        for part in parts:
            total *= len(part)
        return [between.join(one) for one in product(*parts)] if total <= _MOST else [DERIVED]

    def _binop(self, node: ast.BinOp, depth: int) -> list[str]:
        left, right = self.of(node.left, depth), self.of(node.right, depth)
        if isinstance(node.op, ast.Add):
            return self._joined([left, right])
        if isinstance(node.op, ast.Div):
            return self._paths([left, right])
        return [DERIVED]

    def _paths(self, parts: Sequence[Sequence[str]]) -> list[str]:
        total = 1
        for part in parts:
            total *= len(part)
        return [os.path.join(*one) for one in product(*parts)] if total <= _MOST else [DERIVED]  # noqa: PTH118

    def _several(self, node: "ast.List | ast.Tuple | ast.Set", depth: int) -> list[str]:
        return list(dict.fromkeys(v for one in node.elts for v in self.of(one, depth)))

    _list = _tuple = _set = _several

    def _starred(self, node: ast.Starred, depth: int) -> list[str]:
        return self.of(node.value, depth)

    def _ifexp(self, node: ast.IfExp, depth: int) -> list[str]:
        return [*self.of(node.body, depth), *self.of(node.orelse, depth)]

    def _boolop(self, node: ast.BoolOp, depth: int) -> list[str]:
        return [v for one in node.values for v in self.of(one, depth)]

    def _namedexpr(self, node: ast.NamedExpr, depth: int) -> list[str]:
        return self.of(node.value, depth)

    def _attribute(self, node: ast.Attribute, depth: int) -> list[str]:
        name = dotted(node)
        if name in ("os.sep", "os.path.sep"):
            return ["/"]
        if node.attr == "parent":
            return [os.path.dirname(v.rstrip("/")) or "." for v in self.of(node.value, depth)]  # noqa: PTH120
        if node.attr in ("path", "name", "stem"):
            return self.of(node.value, depth)
        return [DERIVED]

    def _subscript(self, node: ast.Subscript, depth: int) -> list[str]:
        name = dotted(node.value)
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if name in ("os.environ", "environ"):
            return [self._variable(str(key))]
        if name in ("sys.argv", "argv") and isinstance(key, int):
            return [self.arguments[key - 1]] if 0 < key <= len(self.arguments) else [DERIVED]
        if name in ("sys.argv", "argv"):
            return list(self.arguments) or [DERIVED]
        if isinstance(node.slice, ast.Slice) and isinstance(node.value, (ast.List, ast.Tuple, ast.Name)):
            return self.of(node.value, depth)
        return [DERIVED]

    def _variable(self, name: str) -> str:
        return self.home if name == "HOME" else DERIVED

    def _called(self, node: ast.Call) -> str:
        if isinstance(node.func, ast.Attribute):
            return node.func.attr
        return self.parts.get(node.func.id, node.func.id).rpartition(".")[2] if isinstance(node.func, ast.Name) else ""

    def _of(self, node: ast.Call, depth: int = 0) -> list[str]:
        """What a call is about: its first argument, or what it is called on."""
        method = node.func.value if isinstance(node.func, ast.Attribute) else None
        if node.args and not (self._called(node) in ("glob", "rglob") and dotted(method or node.func) != "glob"):
            return self.of(node.args[0], depth)
        return self.of(method, depth) if method is not None and dotted(method) not in ("os", "glob") else ["."]

    def _call(self, node: ast.Call, depth: int) -> list[str]:
        called = self._called(node)
        if called == "home" or (called in ("getenv", "get") and self._asks_home(node)):
            return [self.home]
        if called in ("mkdtemp", "mktemp", "gettempdir"):
            return ["/tmp" if called == "gettempdir" else "/tmp/x"]  # noqa: S108 - the names of places
        if called in ("getcwd", "cwd"):
            return list(self.folders)
        if called in ("join", "joinpath"):
            return self._joining(node, depth)
        if called in _LISTS:
            inner = self._of(node, depth)
            return ["*"] if called == "listdir" else [f"{one.rstrip('/')}/*" for one in inner]
        if called in ("glob", "iglob", "rglob"):
            return self._globbed(node, called, depth)
        if called in ("with_suffix", "with_name", "with_stem"):
            whose = node.func.value if isinstance(node.func, ast.Attribute) else None
            return [f"{os.path.dirname(v) or '.'}/{LISTED}" for v in self.of(whose, depth)]  # noqa: PTH120
        if called in ("Path", "PurePath", "PosixPath") and len(node.args) > 1:
            return self._paths([self.of(a, depth) for a in node.args])
        if called in ("expanduser", "expandvars"):
            return [self._expanded(v) for v in self._of(node, depth)]
        if called == "dirname":
            return [os.path.dirname(v) or "." for v in self._of(node, depth)]  # noqa: PTH120
        if called in _SAME:
            return self._of(node, depth) if node.args or isinstance(node.func, ast.Attribute) else ["."]
        return [DERIVED]

    def _expanded(self, value: str) -> str:
        if value.startswith("~"):
            user, slash, rest = value.partition("/")
            return f"{self.home if user == '~' else f'/home/{user[1:]}'}{slash}{rest}"
        return value.replace("${HOME}", self.home).replace("$HOME", self.home)

    def _asks_home(self, node: ast.Call) -> bool:
        first = node.args[0] if node.args else None
        return isinstance(first, ast.Constant) and first.value == "HOME"

    def _joining(self, node: ast.Call, depth: int) -> list[str]:
        method = node.func.value if isinstance(node.func, ast.Attribute) else None
        if isinstance(method, ast.Constant):  # ",".join(…)
            return [DERIVED]
        parts = [self.of(a, depth) for a in node.args]
        if method is not None and dotted(method) not in ("os.path", "path", "posixpath"):
            parts = [self.of(method, depth), *parts]
        return self._paths(parts) if parts else [DERIVED]

    def _globbed(self, node: ast.Call, called: str, depth: int) -> list[str]:
        method = node.func.value if isinstance(node.func, ast.Attribute) else None
        patterns = self.of(node.args[0], depth) if node.args else ["*"]
        if method is None or dotted(method) == "glob":
            return [p.replace("**/", "") for p in patterns]
        found: list[str] = []
        for folder, pattern in product(self.of(method, depth), patterns):
            if called == "rglob" or "**" in pattern:
                found.append(f"{folder.rstrip('/')}/{'*' if pattern in _PICKS_ALL else LISTED}")
            else:
                found.append(f"{folder.rstrip('/')}/{pattern}")
        return found
