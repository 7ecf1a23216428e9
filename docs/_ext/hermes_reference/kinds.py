"""The page of the five kinds, and how any class is shown."""

import ast
import inspect
import sys
from types import ModuleType

from hermes_core import kinds
from hermes_core.permissions import needed
from hermes_reference.markdown import block, code, joined, table
from hermes_reference.source import class_node, decorators, doc, fields_of, header, methods_of, tree_of

ORDER = (
    "Provider",
    "Router",
    "ModelCall",
    "Attempt",
    "ModelRoute",
    "RetryLimits",
    "Tool",
    "ToolContext",
    "ToolSource",
    "Backend",
    "Workspace",
    "Process",
    "Platform",
    "Console",
    "ConsoleDriver",
    "Conversation",
    "ConversationTurn",
    "ConversationQueue",
    "ConversationModel",
    "ConversationJobs",
    "Resource",
    "Jobs",
    "Completer",
    "Opening",
    "Service",
    "Purse",
    "Roles",
    "Masker",
    "SecretSource",
    "SetupStep",
    "SetupField",
    "LoginPrompt",
    "Memory",
    "TurnQueue",
    "StoreDriver",
)


def page() -> str:
    """Every kind with its methods, and the ``tool`` decorator."""
    parts = ["# Kinds", doc(kinds)]
    for name in ORDER:
        parts.append(show_class(getattr(kinds, name)))
        if name == "Tool":
            parts.append(_tool())
    parts += ["## ToolOutput", "`ToolOutput = str | Sequence[Part]`: what a tool's `run` gives."]
    return joined(*parts)


def _tool() -> str:
    tree, _ = tree_of(sys.modules[kinds.Tool.__module__])
    overloads = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "tool"]
    return joined("### @tool", block(header(overloads[1])), doc(kinds.tool))


def show_class(cls: type, level: str = "##") -> str:
    """A class: docstring, how it is made, attributes, methods with their docstrings."""
    parts = [f"{level} {cls.__name__}", *_made(cls), doc(cls)]
    attributes = fields_of(cls)
    if attributes:
        rows = [(code(f.name), code(f.type), code(f.default) or "required", f.comment) for f in attributes]
        parts.append(table(("attribute", "type", "default", "meaning"), rows))
    for _, node in methods_of(cls):
        parts += [block(header(node)), f"{_duty(cls, node)}{_needs(cls, node.name)}{doc(node)}"]
    return joined(*parts)


def _made(cls: type) -> list[str]:
    node, _ = class_node(cls)
    found = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
    return [block(header(found[0], cls.__name__))] if found else []


def _duty(cls: type, node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    marks = decorators(node)
    if "abstractmethod" in marks:
        return "**Abstract.** "
    if "property" in marks:
        return "*Property.* "
    if "pytest.fixture" in marks:
        return "*Fixture.* "
    return "*Default given.* " if inspect.isabstract(cls) else ""


def _needs(cls: type, name: str) -> str:
    """The permissions that a method's marks ask for."""
    found = needed(cls, name) or ()
    each = [f"{code(one.permission)}{f' with {code(one.given)}' if one.given else ''}" for one in found]
    return f"*Needs {' and '.join(each)}.* " if each else ""


def show_function(module: ModuleType, name: str, level: str = "###") -> str:
    """A function: signature and docstring."""
    tree, _ = tree_of(module)
    found = [n for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef) and n.name == name]
    return joined(f"{level} {name}", block(header(found[-1])), doc(found[-1]))
