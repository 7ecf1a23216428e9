"""A Python script as it will run: names and texts that it puts together are put together here, without running it."""

import ast
import base64
import binascii
import codecs
import re
from collections.abc import Callable, Iterator
from contextlib import suppress

from hermes_core.values import frozen

_MOST_SOURCE = 400_000  # characters of a script that is parsed
_MOST_VALUE = 20_000  # characters of a text that is put together
_LOOKUPS = {"getattr", "__import__", "import_module", "setattr", "attrgetter", "methodcaller"}
_TABLES = re.compile(r"^(?:globals|locals|vars)\(|(?:__dict__|sys\.modules|__builtins__)$")
_HOME = re.compile(r"Path\.home\(\)|expanduser\(|environ\[?.{0,6}'HOME'|getenv\('HOME'|'~/?'|'~/\.")
_SWEEPS = {"glob", "iglob", "rglob", "walk", "scandir", "listdir", "iterdir"}
_ALL = re.compile(r"""['"](?:~/)?(?:\*\*/)?(?:\*|\.\*|\.[\w]*\*)""")
_NARROW = re.compile(r"""['"]~/[^.*'"/][^'"]*|/ ['"][^.*'"]|joinpath\(['"][^.*'"]""")
_SENDS = re.compile(
    r"\b(?:post|put|request|urlopen|sendall|sendto|storbinary|sendmail|upload_file|upload_fileobj|put_object)$"
)
_FETCHES = re.compile(r"\b(?:urlopen|urlretrieve|requests\.get|httpx\.get|session\.get|client\.get|recv)$")
_LOADS = re.compile(r"(?:^|builtins\.)(?:exec|eval)$|\b(?:pickle|marshal|dill|cloudpickle)\.loads?$")
_OPENS = re.compile(r"(?:\bCDLL|cdll\.LoadLibrary|\brun_path|\bload_module|\bexec_module)$")
_SENDERS = re.compile(r"\b(?:curl|wget|nc|scp|rsync|ftp)\b")
_VALUE = (str, bytes, int)


@frozen(kw_only=True)
class Script:
    """What a script says once its pieces are joined. ``pieced`` is the first name of code that was in pieces."""

    text: str = ""
    pieced: str = ""
    pieced_line: int = 0
    fetched_line: int = 0  # where it runs or loads what it fetched; 0 where it does not
    sweep_line: int = 0  # where it goes through the files of a home folder that it also sends; 0 where it does not


def read_script(source: str) -> Script:
    """Parse a script and join what can be joined. One that cannot be parsed says nothing."""
    if len(source) > _MOST_SOURCE:
        return Script()
    try:
        tree = ast.parse(source)
        joiner = _Joiner(_bound_once(tree))
        joined = joiner.visit(tree)
        lines = list(_command_lines(joined))
        text = ast.unparse(ast.fix_missing_locations(joined)) if joiner.did else ""
        return Script(
            text="\n".join([text, *lines]).strip(),
            pieced=joiner.pieced,
            pieced_line=joiner.pieced_line,
            sweep_line=_sweep(joined),
            fetched_line=_runs_fetched(joined),
        )
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Script()


def _bound_once(tree: ast.AST) -> dict[str, ast.expr]:
    """The names that get one value in the whole script, and that value."""
    given: dict[str, list[ast.expr | None]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            given.setdefault(node.targets[0].id, []).append(node.value)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            given.setdefault(node.id, []).append(None)
        elif isinstance(node, ast.arg):
            given.setdefault(node.arg, []).extend((None, None))
    found = {}
    for name, values in given.items():  # the store of an assignment is seen too, as None
        if len(values) == 2 and (real := [value for value in values if value is not None]):
            found[name] = real[0]
    return found


class _Joiner(ast.NodeTransformer):
    """Replaces expressions by the text they come to."""

    def __init__(self, bound: dict[str, ast.expr]) -> None:
        self._bound = bound
        self._within: list[str] = []
        self.did = False
        self.pieced, self.pieced_line = "", 0

    def value(self, node: ast.expr | None) -> str | bytes | int | None:
        """What an expression comes to, where that needs nothing but itself."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, _VALUE) else None
        if isinstance(node, ast.Name) and node.id in self._bound and node.id not in self._within:
            self._within.append(node.id)
            try:
                return self.value(self._bound[node.id])
            finally:
                self._within.pop()
        kind = type(node).__name__
        ways: dict[str, Callable[[ast.AST], str | bytes | int | None]] = {
            "BinOp": self._sum, "JoinedStr": self._formatted, "Subscript": self._turned, "Call": self._called,
        }  # fmt: skip
        way = ways.get(kind)
        found = None
        if way and node is not None:
            with suppress(TypeError, ValueError, LookupError, binascii.Error, OverflowError):
                found = way(node)
        return found if not isinstance(found, str | bytes) or len(found) <= _MOST_VALUE else None

    def _sum(self, node: ast.AST) -> str | bytes | int | None:
        assert isinstance(node, ast.BinOp)
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Add) and type(left) is type(right) and left is not None:
            return left + right  # type: ignore[operator]
        if isinstance(left, int) and isinstance(right, int):
            if isinstance(node.op, ast.BitXor):
                return left ^ right
            return left - right if isinstance(node.op, ast.Sub) else None
        return None

    def _formatted(self, node: ast.AST) -> str | None:
        assert isinstance(node, ast.JoinedStr)
        parts = [self.value(one.value if isinstance(one, ast.FormattedValue) else one) for one in node.values]
        return "".join(str(part) for part in parts) if None not in parts else None

    def _turned(self, node: ast.AST) -> str | bytes | None:
        assert isinstance(node, ast.Subscript)
        inner, cut = self.value(node.value), node.slice
        if isinstance(cut, ast.Slice) and isinstance(inner, str | bytes):
            ends = [self._number(one) for one in (cut.lower, cut.upper, cut.step)]
            return inner[slice(*ends)]
        return None

    def _number(self, node: ast.expr | None) -> int | None:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            found = self.value(node.operand)
            return -found if isinstance(found, int) else None
        found = self.value(node)
        return found if isinstance(found, int) else None

    def _called(self, node: ast.AST) -> str | bytes | int | None:
        assert isinstance(node, ast.Call)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        on = self.value(node.func.value) if isinstance(node.func, ast.Attribute) else None
        if name == "join" and isinstance(on, str) and len(node.args) == 1:
            parts = list(self._row(node.args[0]))
            return on.join(str(one) for one in parts) if parts and all(isinstance(one, str) for one in parts) else None
        if name in ("bytes", "bytearray") and len(node.args) == 1:
            numbers = [one for one in self._row(node.args[0]) if isinstance(one, int)]
            return bytes(numbers) if numbers else None
        given = [self.value(one) for one in node.args]
        if name == "chr" and given and isinstance(given[0], int):
            return chr(given[0])
        if isinstance(on, bytes) and name == "decode":
            return on.decode()
        if isinstance(on, str) and name in ("encode", "lower", "upper", "strip", "swapcase"):
            return on.encode() if name == "encode" else str(getattr(on, name)())
        if isinstance(on, str) and name == "replace" and len(given) == 2:
            return on.replace(str(given[0] or ""), str(given[1] or ""))
        return _decoded(name, given)

    def _row(self, node: ast.expr) -> Iterator[str | bytes | int | None]:
        """The members of a list that is written out, also behind reversed(), map(chr, ...) or one comprehension."""
        if isinstance(node, ast.Name) and node.id in self._bound:
            node = self._bound[node.id]
        if isinstance(node, ast.List | ast.Tuple):
            yield from (self.value(one) for one in node.elts)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "reversed" and node.args:
            text = self.value(node.args[0])
            yield from reversed(text if isinstance(text, str) else list(self._row(node.args[0])))
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "map" and len(node.args) == 2:
            yield from self._each(ast.Call(node.args[0], [ast.Name("each", ast.Load())], []), "each", node.args[1])
        elif isinstance(node, ast.GeneratorExp | ast.ListComp) and len(node.generators) == 1:
            over = node.generators[0]
            if isinstance(over.target, ast.Name) and not over.ifs:
                yield from self._each(node.elt, over.target.id, over.iter)
        elif isinstance(found := self.value(node), str | bytes):
            yield from found

    def _each(self, made: ast.expr, name: str, over: ast.expr) -> Iterator[str | bytes | int | None]:
        before = self._bound.get(name)
        for one in self._row(over):
            self._bound[name] = ast.Constant(one)
            yield self.value(made)
        self._bound.pop(name, None)
        if before is not None:
            self._bound[name] = before

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.Call):
            self._note_lookup(node)
        elif isinstance(node, ast.Subscript) and _TABLES.search(ast.unparse(node.value)):
            self._note(node.slice)
        if isinstance(node, ast.expr) and not isinstance(node, ast.Constant | ast.Name):
            found = self.value(node)
            if isinstance(found, bytes):
                with suppress(UnicodeDecodeError):
                    found = found.decode()
            if isinstance(found, str):
                self.did = True
                return ast.copy_location(ast.Constant(found), node)
        made: ast.AST = super().generic_visit(node)
        return self._plain(made) if isinstance(made, ast.Call) else made

    def _note_lookup(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in _LOOKUPS:
            for one in node.args:
                self._note(one)

    def _note(self, node: ast.expr) -> None:
        found = self.value(node)
        if self.pieced or isinstance(node, ast.Constant | ast.Name) or not isinstance(found, str):
            return
        if isinstance(node, ast.JoinedStr) and not any(isinstance(one, ast.FormattedValue) for one in node.values):
            return
        self.pieced, self.pieced_line = found[:60], node.lineno

    def _plain(self, node: ast.Call) -> ast.AST:
        """``getattr(x, "run")`` as ``x.run``, and ``import_module("x")`` as ``x``."""
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        words = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        if name == "getattr" and len(node.args) >= 2 and isinstance(node.args[1], ast.Constant) and words:
            if not words[-1].isidentifier():
                return node
            self.did = True
            return ast.copy_location(ast.Attribute(node.args[0], words[-1], ast.Load()), node)
        if name in ("import_module", "__import__") and words and re.fullmatch(r"[\w.]+", words[0]):
            self.did = True
            return ast.copy_location(ast.Name(words[0], ast.Load()), node)
        return node


def _decoded(name: str, given: list[str | bytes | int | None]) -> str | bytes | None:
    first = given[0] if given else None
    if not isinstance(first, str | bytes):
        return None
    if name == "fromhex" and isinstance(first, str):
        return bytes.fromhex(first)
    if name == "unhexlify":
        return binascii.unhexlify(first)
    if name in ("b64decode", "urlsafe_b64decode", "b32decode", "b85decode", "a85decode"):
        return bytes(getattr(base64, name)(first))
    if name == "decode" and isinstance(first, str) and len(given) == 2 and "rot" in str(given[1]):
        return codecs.decode(first, "rot13")
    return None


def _command_lines(tree: ast.AST) -> Iterator[str]:
    """The commands that are written as lists of words, as a shell would have them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.List | ast.Tuple) and len(node.elts) > 1:
            words = [one.value if isinstance(one, ast.Constant) else _word(one) for one in node.elts]
            if all(isinstance(one, str) and one for one in words):
                yield " ".join(map(str, words))[:2_000]


def _word(node: ast.expr) -> str:
    return (
        "python" if ast.unparse(node) == "sys.executable" else "X" if isinstance(node, ast.Name | ast.Attribute) else ""
    )


def _runs_fetched(tree: ast.AST) -> int:
    """The line in which a script that fetches something runs or loads code that nobody can read; 0 where none does."""
    line, fetches = 0, False
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        fetches = fetches or bool(_FETCHES.search(called))
        opaque = _LOADS.search(called) and node.args and not isinstance(node.args[0], ast.Constant)
        if opaque or (_OPENS.search(called) and "tmp" in ast.unparse(node)):
            line = line or node.lineno
    return line if fetches else 0


def _sweep(tree: ast.AST) -> int:
    """The line in which a script that sends something goes through the home folder or the environment, or 0."""
    bound = {name: ast.unparse(value) for name, value in _bound_once(tree).items()}
    line, sends = 0, False
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        words = ast.unparse(node)
        if re.search(r"os\.environ\.(?:items|copy|values)$", called) or (called == "dict" and "os.environ" in words):
            line = line or node.lineno
        sends = sends or bool(_SENDS.search(called)) or ("subprocess" in called and bool(_SENDERS.search(words)))
        if called.rpartition(".")[2] in _SWEEPS:
            whole = _filled(words, bound)
            if _HOME.search(whole) and not _NARROW.search(whole) and (_ALL.search(whole) or "*" not in whole):
                line = line or node.lineno
    return line if sends else 0


def _filled(words: str, bound: dict[str, str]) -> str:
    for _ in range(3):
        words = re.sub(r"(?<![.\w'\"])[A-Za-z_]\w*(?![\w'\"(])", lambda m: bound.get(m[0], m[0])[:300], words)[:4_000]
    return words
