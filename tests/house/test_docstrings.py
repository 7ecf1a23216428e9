"""A function says what it does: its docstring begins with a verb.

Not all words can be known for verbs, so this names those that begin the docstrings that have none. Properties say what
they are, and click prints those of commands as their help.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ["hermes_core"]
ELSEWHERE = {"testing", "versions"}  # what tests are written with; what is generated with the schema
NOUNS = {"property", "cached_property", "setter"}
HELP = {"command", "group"}
NO_VERBS = {
    *("The", "A", "An", "One", "All", "Every", "Each", "Those", "This", "It", "Its"),
    *("What", "Whether", "Who", "Whose", "Whom", "Where", "Which", "Why", "How"),
    "Raises",  # "Refuse an empty name: raises UserError."
}


def begins_with_no_verb(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the first word of each docstring of a function that should begin with another."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if (NOUNS | HELP) & {name for decorator in node.decorator_list for name in names_of(decorator)}:
            continue
        words = (ast.get_docstring(node) or "").split()
        if words and (first := words[0].rstrip(".,:;")) in NO_VERBS:
            yield node.lineno, first


def names_of(decorator: ast.expr) -> Iterator[str]:
    """Yield the last name of a decorator, called or not: ``command`` of ``@click.command("run")``."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    if isinstance(called, ast.Name | ast.Attribute):
        yield called.id if isinstance(called, ast.Name) else called.attr


@pytest.mark.parametrize("room", ROOMS)
def test_the_docstring_of_a_function_begins_with_a_verb(room: str) -> None:
    files = [path for path in (ROOT / room).rglob("*.py") if not ELSEWHERE & set(path.parts)]
    assert files
    found = {str(path.relative_to(ROOT)): list(begins_with_no_verb(path.read_text("utf-8"))) for path in files}
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    ("decorator", "doc", "found"),
    [
        ("", "The name.", ["The"]),
        ("", "Raises: UserError.", ["Raises"]),
        ("@cache", "Whether it is.", ["Whether"]),
        ("", "Return the name.", []),
        ("@property", "The name.", []),
        ("@functools.cached_property", "The name.", []),
        ("@click.command('x')", "All of it.", []),
    ],
)
def test_properties_and_commands_are_none_of_them(decorator: str, doc: str, found: list[str]) -> None:
    source = f'{decorator}\ndef one():\n    """{doc}"""\n'
    assert [first for _, first in begins_with_no_verb(source)] == found
