"""Which Python runs a script: the small one where it is there and the script needs no more."""

import ast
import shutil
import sys
from functools import cache
from pathlib import Path

__all__ = ["program", "suits", "why_not"]

# What it knows of the standard library and what needs nothing of a machine.
_MODULES = {
    "asyncio", "base64", "binascii", "bisect", "collections", "copy", "csv", "dataclasses", "datetime", "decimal",
    "functools", "hashlib", "hermes_tools", "itertools", "json", "math", "random", "re", "time", "tomllib",
    "typing",
}  # fmt: skip
_NAMES = {
    "open", "input", "exec", "eval", "compile", "__import__", "globals", "locals", "vars", "breakpoint",
    "memoryview", "help", "exit", "quit", "super",
}  # fmt: skip


@cache
def program() -> str:
    """The interpreter's program beside this Python or on the path; empty where there is none."""
    beside = Path(sys.executable).with_name("monty")
    return str(beside) if beside.is_file() else shutil.which("monty") or ""


@cache
def why_not() -> str:
    """Why there is no small Python here; empty where there is one."""
    from importlib.util import find_spec

    if find_spec("pydantic_monty") is None or not program():
        return "pydantic-monty is not installed: pip install 'hermes-tool-python[fast]'"
    from hermes_backend_wall.bwrap import likely

    return "" if likely() else "bubblewrap, which makes its wall, is not there: install it, or use the whole Python"


def suits(code: str) -> bool:
    """Whether a script needs no more than the small Python has, as far as its text says."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return all(map(_known, ast.walk(tree)))


def _known(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return all(alias.name in _MODULES for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        # An error of a tool has no class of its own there.
        known = not any(alias.name in ("*", "ToolError") for alias in node.names)
        return known and not node.level and node.module in _MODULES
    if isinstance(node, ast.ClassDef):
        return not node.bases and not node.keywords
    if isinstance(node, ast.Name):
        return node.id not in _NAMES
    return not isinstance(node, ast.Yield | ast.YieldFrom | ast.Delete | ast.AsyncFor | ast.AsyncWith | ast.With)
