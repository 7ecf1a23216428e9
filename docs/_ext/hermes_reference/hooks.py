"""The page of the hooks."""

import ast

from hermes_core import hooks, modes
from hermes_reference.markdown import block, joined, table
from hermes_reference.source import doc, header, tree_of

MODES: dict[hooks.Mode, tuple[str, str, str]] = {
    "contribute": ("list what you add", "joined, the owner kept", "what the plugin adds is dropped"),
    "observe": ("something happened", "ignored", "recorded"),
    "transform": ("here is a value, give back another or `None`", "passed on to the next", "the value before stands"),
    "decide": ("may this happen?", "deny beats ask beats allow; the first deny ends it", "**deny**, naming the plugin"),
    "ask": ("ask a person", "the first answer wins, the others are withdrawn", "recorded; no answer is a deny"),
}


def page() -> str:
    """Every hook with its mode, signature, deadline and docstring."""
    tree, _ = tree_of(hooks)
    specs = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}
    parts = ["# Hooks", "Every hook of Hermes, with its mode. There is no hook outside this list.", _modes(), _rules()]
    current = ""
    for name, mode in hooks.modes().items():
        if mode != current:
            parts.append(f"## {mode}")
            current = mode
        where = "" if mode == "contribute" else f'Declare it: `[hooks] use = ["{name}"]`. '
        parts += [f"### {name}", block(header(specs[name])), doc(specs[name]), f"{where}{_deadline(mode)}"]
    return joined(*parts)


def _modes() -> str:
    rows = [(f"`{mode}`", *words, _seconds(mode)) for mode, words in MODES.items()]
    return table(("mode", "meaning", "result", "a plugin raises or is late", "deadline"), rows)


def _seconds(mode: hooks.Mode) -> str:
    return "none; above 0.1 s it is noted" if mode == "contribute" else f"{modes.DEADLINES[mode]:g} s"


def _deadline(mode: hooks.Mode) -> str:
    return "Called once." if mode == "contribute" else f"Deadline: {modes.DEADLINES[mode]:g} s."


def _rules() -> str:
    rest = [p for p in doc(hooks).split("\n\n") if p.startswith("Name only")]
    return "\n\n".join(rest)
