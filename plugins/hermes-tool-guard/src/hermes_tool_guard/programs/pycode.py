"""What Python code does, read from its syntax tree: it may compute, read, and write in the folder."""

import ast
import re
import warnings
from collections.abc import Callable

from hermes_tool_guard.judgement import DERIVED, UNKNOWN, Class
from hermes_tool_guard.places import Zone
from hermes_tool_guard.programs import pycalls
from hermes_tool_guard.programs.pymodules import CALM, FETCHING, HARMLESS_OF, REACHED, is_library
from hermes_tool_guard.programs.pyvalues import Values, dotted
from hermes_tool_guard.run import Run, names

__all__ = ["Code", "python_code"]

LONGEST = 20_000  # characters of code that is read
MOST = 6_000  # nodes of its tree
_BUILTINS = names("exec eval compile __import__ globals locals vars breakpoint setattr delattr getattr open help exit_")
_KNOWN_DUNDERS = names(
    "__version__ __name__ __file__ __doc__ __all__ __path__ __class__ __module__ __qualname__ __annotations__ __len__ "
    "__init__ __str__ __repr__ __eq__ __hash__ __main__ __package__ __spec__ __version_info__ __author__ __members__ "
    "__dataclass_fields__ __slots__ __enter__ __exit__ __iter__ __next__ __call__ __git_version__ __config__ __title__"
)
_RUNS = re.compile(
    r"system|p?open[234]?_|popen\d?|spawn\w*|exec[vl]\w*|fork(?:pty)?|posix_spawnp?|startfile|dlopen|[cC]DLL|cdll|PyDLL"
    r"|LoadLibrary|load_module|exec_module|run_path|run_module|runsource|runcode|getoutput|getstatusoutput"
    r"|create_subprocess_\w+|open_connection|start_server|open_unix_connection|create_connection|create_server|sendall"
    r"|sendto|sendmail|send_message|sendfile|killpg|kill|f_globals|f_builtins|f_locals|f_back|gi_frame|cr_frame"
    r"|tb_frame|func_globals|co_code|enable_load_extension|load_extension|subprocess_\w+|methodcaller|attrgetter|resolve_name"
)
_PATH = re.compile(r"[~/.\w$*-][^\s\"'<>|;]{0,300}$")
_DESTROYS = re.compile(
    r"(?i)\s*(?:drop\s+(?:table|database|schema|index|view)|truncate\s|delete\s+from\s+\S+\s*;?\s*$)"
)


def python_code(run: Run, code: str, arguments: list[str]) -> bool:
    """Judge Python code. False when it cannot be read."""
    if len(code) > LONGEST or any(c in code for c in UNKNOWN):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    nodes = list(ast.walk(tree))
    if len(nodes) > MOST:
        return False
    run.scene.step(len(nodes) // 20)
    Code(run, nodes, arguments).judge()
    return True


class Code:
    """One piece of code and what is known of its names."""

    def __init__(self, run: Run, nodes: list[ast.AST], arguments: list[str]) -> None:
        self.run = run
        self.nodes = nodes
        self.values = Values(run.scene.places.home, run.folders, arguments)
        self.modules: dict[str, str] = {}  # names that stand for modules
        self.parts: dict[str, str] = {}  # names that stand for something in a module
        self.values.parts = self.parts
        self.asked = False
        self._called = {id(n.func) for n in nodes if isinstance(n, ast.Call)}
        self._held = {id(n.value) for n in nodes if isinstance(n, ast.Attribute)}

    def ask(self, what: Class, why: str) -> None:
        """It does what needs a yes."""
        self.asked = True
        self.run.ask(what, f"runs Python code that {why}")

    def is_held(self, node: ast.AST) -> bool:
        """Whether only something of it is used: ``node.attribute``."""
        return id(node) in self._held

    def judge(self) -> None:
        """All of it: first what its names stand for, then what is done with them."""
        for node in self.nodes:
            self._import(node)
        for _ in range(2):
            for node in self.nodes:
                self._set(node)
        for node in self.nodes:
            if judge := _JUDGES.get(type(node)):
                judge(self, node)

    # --- what names stand for -------------------------------------------------------------------------------------

    def _import(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for one in node.names:
                self.module(one.name)
                first = one.name.partition(".")[0]
                self._stands(one.asname or first, self.modules, one.name if one.asname else first)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            self.module(module or "__init__")
            for one in node.names:
                whole = f"{module}.{one.name}"
                if one.name == "*" and (module in HARMLESS_OF or module in FETCHING):
                    self.ask(Class.CODE, f"takes everything from {module}")
                elif whole in HARMLESS_OF or whole in FETCHING:
                    self._stands(one.asname or one.name, self.modules, whole)
                else:
                    self._stands(one.asname or one.name, self.parts, whole)
                    self.part(module, one.name)

    def _stands(self, name: str, among: dict[str, str], whole: str) -> None:
        """A name stands for something; for two things in turn would be too much to follow."""
        if {self.modules.get(name, whole), self.parts.get(name, whole)} != {whole}:
            self.ask(Class.CODE, f"uses {name} for more than one thing")
        among[name] = whole

    def module(self, name: str) -> None:
        """A module is loaded."""
        top = name.partition(".")[0]
        if top in CALM or top in HARMLESS_OF or name in FETCHING or top in FETCHING or is_library(top):
            if name == "http.server" or name == "http.client":
                self.ask(Class.SEND, f"uses {name}")
            return
        if not pycalls.is_own(top):
            self.ask(Class.CODE, f"uses {name}")
            return
        pycalls.loads(self, top)

    def part(self, module: str, name: str) -> None:
        """Something of a module is used."""
        allowed = HARMLESS_OF.get(module)
        if allowed is not None and name not in allowed and f"{module}.{name}" not in HARMLESS_OF:
            self.ask(Class.CODE, f"uses {module}.{name}")
        elif module in FETCHING and not pycalls.fetches(module, name):
            self.ask(Class.SEND, f"may send something with {module}.{name}")
        elif module not in HARMLESS_OF and (name in REACHED or _RUNS.fullmatch(name)):
            self.ask(Class.CODE, f"reaches {name} through {module}")

    def _set(self, node: ast.AST) -> None:
        values = self.values
        if isinstance(node, ast.Assign):
            for target in node.targets:
                values.set(target, values.of(node.value))
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
            values.set(node.target, values.of(node.value))
        elif isinstance(node, ast.AugAssign):
            values.set(node.target, [DERIVED])
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            values.walked(node.target, node.iter)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            values.set(node.optional_vars, self._managed(node.context_expr))
        elif isinstance(node, ast.arg):
            values.set(ast.Name(node.arg), [DERIVED])
        elif isinstance(node, ast.Call) and self.target(node.func) in ("os.chdir", "contextlib.chdir"):
            places = self.run.scene.places
            where = values.of(self.given(node, 0, "path"))
            more = [p for v in where for p in places.absolute(v, self.run.folders)]
            self.run.folders = tuple(dict.fromkeys([*self.run.folders, *more]))[:6]
            values.folders = self.run.folders

    def _managed(self, node: ast.expr) -> list[str]:
        if isinstance(node, ast.Call) and self.target(node.func).startswith("tempfile."):
            return ["/tmp/x"]  # noqa: S108 - the name of a place
        return self.values.of(node)

    def target(self, node: ast.expr) -> str:
        """What a name or attribute stands for, as in ``os.remove``; ``.remove`` where it is not known of what."""
        if isinstance(node, ast.Name):
            return self.parts.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            module = self.module_of(node.value)
            return f"{module}.{node.attr}" if module else f".{node.attr}"
        return ""

    def module_of(self, node: ast.expr) -> str:
        """The module that an expression is, or nothing."""
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            if self.target(node.func) in ("__import__", "importlib.import_module"):
                return str(node.args[0].value)
            return ""
        name = dotted(node)
        first, _, rest = name.partition(".")
        if first in self.modules:
            return f"{self.modules[first]}.{rest}" if rest else self.modules[first]
        return self.parts.get(first, "") if not rest and first in self.parts else ""

    # --- what is done with them -----------------------------------------------------------------------------------

    def _name(self, node: ast.Name) -> None:
        called, held = id(node) in self._called, id(node) in self._held
        if (node.id in self.modules and not held and self.modules[node.id] in (HARMLESS_OF | FETCHING)) or (
            node.id in _BUILTINS and not called and isinstance(node.ctx, ast.Load)
        ):
            self.ask(Class.CODE, f"hands {node.id} to somebody else")
        elif node.id.startswith("__") and node.id not in _KNOWN_DUNDERS and not called:
            self.ask(Class.CODE, f"uses {node.id}")
        elif not called and not held and pycalls.needs_call(self.parts.get(node.id, "")):
            self.ask(Class.CODE, f"hands {node.id} to somebody else")

    def _attribute(self, node: ast.Attribute) -> None:
        module, name = self.module_of(node.value), node.attr
        called = id(node) in self._called
        self.named(module, name, called=called)

    def named(self, module: str, name: str, *, called: bool) -> None:
        """An attribute is used, of a module if that is known."""
        if module in HARMLESS_OF:
            if name not in HARMLESS_OF[module]:
                self.ask(Class.CODE, f"uses {module}.{name}")
        elif module in FETCHING:
            if not pycalls.fetches(module, name):
                self.ask(Class.SEND, f"may send something with {module}.{name}")
        elif _RUNS.fullmatch(name) or name in REACHED or (name.startswith("__") and name not in _KNOWN_DUNDERS):
            self.ask(Class.CODE, f"uses {name}")
        if not called and pycalls.needs_call(f"{module}.{name}"):
            self.ask(Class.CODE, f"hands {name} to somebody else")

    def _call(self, node: ast.Call) -> None:
        target = self.target(node.func)
        judge = pycalls.CALLS.get(target) or pycalls.CALLS.get(f".{target.rpartition('.')[2]}" if "." in target else "")
        if judge:
            judge(self, node, target)

    def _constant(self, node: ast.Constant) -> None:
        text = node.value.decode(errors="replace") if isinstance(node.value, bytes) else node.value
        if not isinstance(text, str) or not text:
            return
        if _DESTROYS.match(text):
            self.ask(Class.DATABASE, "destroys data in a database")
        if len(text) < 400 and _PATH.match(text) and not text.startswith(("http:", "https:")):
            for _, zone in self.run._zones(text):
                named = "/" in text or text.startswith(("~", ".", "id_"))
                if zone is Zone.GUARDED or (zone is Zone.CREDENTIAL and named):
                    self.asked = self.asked or zone is Zone.CREDENTIAL
                    self.run.read(text)

    def texts(self, node: ast.expr | None) -> list[str]:
        """What an expression may come to."""
        return self.values.of(node)

    def given(self, node: ast.Call, position: int, *keys: str) -> ast.expr | None:
        """An argument of a call, by its place or its name; all that it may be among, where that is not known."""
        for keyword in node.keywords:
            if keyword.arg in keys:
                return keyword.value
        several = next((i for i, a in enumerate(node.args) if isinstance(a, ast.Starred)), len(node.args))
        if position < several:
            return node.args[position]
        more = [*node.args[several:], *(k.value for k in node.keywords if k.arg is None)]
        return more[0] if more else None


_JUDGES: dict[type[ast.AST], Callable[[Code, ast.AST], None]] = {
    ast.Name: Code._name,  # type: ignore[dict-item]
    ast.Attribute: Code._attribute,  # type: ignore[dict-item]
    ast.Call: Code._call,  # type: ignore[dict-item]
    ast.Constant: Code._constant,  # type: ignore[dict-item]
}
