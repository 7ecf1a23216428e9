"""What code reaches for, as its text shows, held against what it declares.

This is a reader, not a wall: it finds honest mistakes and plain tricks early, with the line they are on. What gets past
it is met again where the tool runs.
"""

import ast
import sys
from collections.abc import Iterator

from hermes_tool_workshop.permissions import Permissions

# Modules that no declaration opens: with them, text becomes code, or the interpreter itself is within reach.
_CLOSED = {
    "ctypes", "gc", "inspect", "importlib", "imp", "pkgutil", "runpy", "code", "codeop", "marshal", "pickle",
    "pickletools",
    "shelve", "builtins", "multiprocessing", "pty", "faulthandler", "site", "sysconfig", "ensurepip", "venv",
    "pip", "pdb",
    "bdb", "trace", "tracemalloc", "symtable", "dis", "opcode", "zipimport", "tkinter", "turtle", "idlelib", "test",
    "webbrowser", "antigravity", "resource", "signal", "socketserver", "dbm", "hermes_core", "interpreters", "cffi",
    "distutils", "setuptools", "ptrace", "concurrent.interpreters", "modulefinder", "posix", "nt", "atexit",
    "weakref",
}  # fmt: skip
_NETWORK = {
    "socket", "ssl", "http.client", "http.cookiejar", "urllib.request", "ftplib", "smtplib", "poplib", "imaplib",
    "nntplib",
    "telnetlib", "xmlrpc.client",
}  # fmt: skip
_SERVERS = {"http.server", "xmlrpc.server", "wsgiref", "asyncore", "asynchat", "smtpd", "pydoc", "cgi"}
_NAMES = {
    "eval": "it runs computed text", "exec": "it runs computed text", "compile": "it makes code of text",
    "__import__": "it imports by a computed name", "globals": "it reaches behind the code",
    "locals": "it reaches behind the code",
    "vars": "it reaches behind the code", "breakpoint": "nobody is there", "input": "nobody is there to type",
    "memoryview": "it is not needed here", "__builtins__": "it reaches behind the code",
    "__loader__": "it reaches behind the code",
    "__spec__": "it reaches behind the code", "delattr": "it alters what others use",
}  # fmt: skip
_DUNDERS = {
    "__name__", "__doc__", "__init__", "__post_init__", "__str__", "__repr__", "__eq__", "__ne__", "__lt__", "__le__",
    "__gt__", "__ge__", "__hash__", "__len__", "__iter__", "__next__", "__contains__", "__getitem__", "__setitem__",
    "__add__", "__sub__", "__mul__", "__truediv__", "__floordiv__", "__mod__", "__neg__", "__abs__", "__bool__",
    "__call__",
    "__enter__", "__exit__", "__slots__", "__version__", "__missing__", "__and__", "__or__", "__xor__", "__invert__",
    "__lshift__", "__rshift__", "__pow__", "__radd__", "__rsub__", "__rmul__", "__float__", "__int__", "__index__",
    "__reversed__", "__delitem__", "__format__", "__annotations__", "__future__",
}  # fmt: skip
_ATTRIBUTES = {
    "f_back": "frames", "f_globals": "frames", "f_locals": "frames", "f_builtins": "frames", "tb_frame": "frames",
    "gi_frame": "frames",
    "gi_code": "frames", "cr_frame": "frames", "ag_frame": "frames", "_getframe": "frames",
    "_current_frames": "frames",
    "attrgetter": "attributes named by text", "methodcaller": "attributes named by text", "cell_contents": "closures",
    "walk_tb": "frames", "walk_stack": "frames",
    "addaudithook": "the audit hook", "settrace": "the interpreter", "setprofile": "the interpreter",
    "meta_path": "the import system",
    "path_hooks": "the import system", "path_importer_cache": "the import system", "CodeType": "code objects",
    "FunctionType": "code objects", "setrlimit": "its own bounds", "fork": "processes of its own",
    "forkpty": "processes of its own",
    "kill": "other processes", "killpg": "other processes", "dup2": "its own pipes",
    "_exit": "the end of its process",
    "abort": "the end of its process", "fchdir": "the folder it runs in", "chroot": "the folder it runs in",
}  # fmt: skip
_OF_SYS = {"modules", "path", "stdin", "__stdout__", "__stderr__", "exit"}
_ENVIRONMENT = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"}
_STARTS = {
    "system", "popen", "execv", "execve", "execvp", "execvpe", "execl", "execle", "execlp", "execlpe", "spawnv",
    "spawnve",
    "spawnl", "spawnle", "spawnlp", "spawnlpe", "spawnvp", "spawnvpe", "posix_spawn", "posix_spawnp", "startfile",
    "create_subprocess_exec", "create_subprocess_shell",
}  # fmt: skip
_WRITERS = {
    "write_text", "write_bytes", "unlink", "rmtree", "rmdir", "mkdir", "makedirs", "touch", "symlink_to",
    "hardlink_to", "copyfile",
    "copytree", "chmod", "chown", "removedirs", "truncate", "symlink", "link",
}  # fmt: skip
_READERS = {"read_text", "read_bytes", "iterdir", "listdir", "scandir", "rglob"}


def findings(tree: ast.Module, permissions: Permissions) -> list[str]:
    """What the code does that it may not, or did not declare; in the order of its lines, each with its own."""
    found: list[tuple[int, str]] = []
    stack: list[ast.AST] = [tree]  # not by recursion: the nesting is the model's
    while stack:
        node = stack.pop()
        found += [(getattr(node, "lineno", 0), text) for text in _of(node, permissions)]
        stack.extend(ast.iter_child_nodes(node))
    unique = dict.fromkeys(f"line {line}: {text}" for line, text in sorted(found, key=lambda pair: pair[0]))
    unused = sorted(set(permissions.packages) - _imported(tree))
    return [*unique, *(f"packages: {name} is declared and never imported" for name in unused)]


def _imported(tree: ast.Module) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names


def _of(node: ast.AST, permissions: Permissions) -> Iterator[str]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield from _import(alias.name, permissions)
    elif isinstance(node, ast.ImportFrom):
        yield from _import_from(node, permissions)
    elif isinstance(node, ast.Name):
        yield from _name(node, permissions)
    elif isinstance(node, ast.Attribute):
        yield from _attribute(node, permissions)
    elif isinstance(node, ast.Call):
        yield from _call(node, permissions)
    elif isinstance(node, ast.FunctionDef | ast.ClassDef) and _hidden(node.name):
        yield f"the name {node.name} is the interpreter's own"


def _import_from(node: ast.ImportFrom, permissions: Permissions) -> Iterator[str]:
    if node.level or not node.module:
        yield "there is no package around the tool to import from"
        return
    for alias in node.names:
        if alias.name == "*":
            yield f"import the names you use from {node.module}, not *"
            continue
        yield from _import(node.module, permissions)
        inner = f"{node.module}.{alias.name}"
        if inner in _NETWORK | _SERVERS | _CLOSED:
            yield from _import(inner, permissions)
        yield from _attribute_name(alias.name, node.module, permissions)


def _import(module: str, permissions: Permissions) -> Iterator[str]:
    top = module.partition(".")[0]
    if module in _CLOSED or top in _CLOSED or (top.startswith("_") and top != "__future__"):
        yield f"the module {module} may not be used by a tool; do it without"
    elif module in _SERVERS or top in _SERVERS:
        yield f"the module {module} waits for connections; a tool ends when its work is done"
    elif (module in _NETWORK or top in ("socket", "ssl")) and not permissions.hosts:
        yield f"the module {module} uses the network: declare the hosts"
    elif top == "subprocess" and not permissions.programs:
        yield "subprocess starts programs: declare which"
    elif top == "sqlite3" and not permissions.writes:
        yield "sqlite3 opens files: declare them in writes"
    elif top not in sys.stdlib_module_names and top not in permissions.packages:
        yield f"{top} is not in the standard library: declare it in packages, if it is installed where tools run"


def _hidden(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name not in _DUNDERS


def _name(node: ast.Name, permissions: Permissions) -> Iterator[str]:
    if node.id in _NAMES:
        yield f"{node.id} may not be used by a tool: {_NAMES[node.id]}"
    elif node.id in ("getattr", "setattr"):
        return  # judged where they are called
    elif node.id == "open" and not (permissions.reads or permissions.writes):
        yield "open needs the file or folder in reads or writes"
    elif node.id == "call_tool" and not permissions.calls:
        yield "call_tool needs the names of the tools in calls"
    elif _hidden(node.id):
        yield f"the name {node.id} is the interpreter's own"


def _attribute(node: ast.Attribute, permissions: Permissions) -> Iterator[str]:
    owner = node.value.id if isinstance(node.value, ast.Name) else ""
    yield from _attribute_name(node.attr, owner, permissions)


def _attribute_name(name: str, owner: str, permissions: Permissions) -> Iterator[str]:
    if _hidden(name):
        yield f"the attribute {name} reaches behind the code"
    elif name in _ATTRIBUTES:
        yield f"{name} reaches for {_ATTRIBUTES[name]}; a tool may not"
    elif owner == "sys" and name in _OF_SYS:
        yield f"sys.{name} may not be used by a tool"
    elif owner in ("os", "asyncio") and name in _STARTS and not permissions.programs:
        yield f"{owner}.{name} starts programs: declare which"
    elif owner == "os" and name in _ENVIRONMENT:
        yield f"os.{name}: the environment is empty where tools run; take what you need as an argument"
    elif owner == "os" and name.startswith("_"):
        yield f"os.{name} may not be used by a tool"
    elif owner == "io" and name in ("open", "FileIO", "open_code") and not (permissions.reads or permissions.writes):
        yield f"io.{name} needs the file or folder in reads or writes"
    elif name in _WRITERS and not permissions.writes:
        yield f"{name} changes files: declare them in writes"
    elif name in _READERS and not (permissions.reads or permissions.writes):
        yield f"{name} reads files: declare them in reads"


def _call(node: ast.Call, permissions: Permissions) -> Iterator[str]:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in ("getattr", "setattr", "hasattr", "attrgetter"):
        wanted = node.args[1] if len(node.args) > 1 else None
        if not (isinstance(wanted, ast.Constant) and isinstance(wanted.value, str)):
            yield f"{name} needs the attribute's name as plain text here"
        else:
            yield from _attribute_name(wanted.value, "", permissions)
    elif name == "open" and _writes(node) and not permissions.writes:
        yield "open for writing needs the file or folder in writes"


def _writes(node: ast.Call) -> bool:
    given = [k.value for k in node.keywords if k.arg == "mode"] or node.args[1:2]
    text = given[0].value if given and isinstance(given[0], ast.Constant) else "r" if not given else ""
    return isinstance(text, str) and bool(set(text) & set("wax+"))
