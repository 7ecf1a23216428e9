"""What the model hands over, checked before anybody is asked and before anything runs."""

import ast
import hashlib
import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_type_hints

from hermes_core.errors import ToolError
from hermes_core.values import frozen
from hermes_tool_workshop.offer import Example, May, Write
from hermes_tool_workshop.permissions import Permissions, tidy
from hermes_tool_workshop.rules import findings
from hermes_tool_workshop.shape import Shape, full_name, read_shape

CODE = 40_000  # characters; a person reads all of it
LINES = 1_000
EXAMPLES = 10
_TOLD = 15  # problems told at once


@frozen(kw_only=True)
class Draft:
    """A tool that passed the checks and was not tried yet."""

    name: str
    code: str
    shape: Shape
    permissions: Permissions
    examples: tuple[Mapping[str, Any], ...] = ()
    why: str = ""
    seconds: int = 30

    @property
    def sha256(self) -> str:
        """Of the code."""
        return hashlib.sha256(self.code.encode()).hexdigest()


def draft_of(wanted: Write, home: Path, most_seconds: int) -> Draft:
    """A draft. Raises ToolError that lists what is wrong, with lines."""
    problems: list[str] = []
    name = ""
    try:
        name = full_name(wanted.name.strip())
    except ValueError as error:
        problems.append(str(error))
    given = {n: tidy([*getattr(wanted.may, n), *getattr(wanted, n)]) for n in get_type_hints(May)}
    permissions = Permissions(**{**given, "hosts": tuple(sorted({h.lower().rstrip(".") for h in given["hosts"]}))})
    problems += permissions.problems(home)
    if wanted.seconds > most_seconds:
        problems.append(f"seconds: {wanted.seconds} is more than the {most_seconds} that tools.workshop.seconds allows")
    code = _plain(wanted.code)
    shape, wrong = read_code(code, permissions)
    problems += wrong
    if shape is not None:
        problems += _example_problems(wanted.examples, shape)
    if problems or shape is None:
        more = len(problems) - _TOLD
        shown = [*problems[:_TOLD], *([f"and {more} more"] if more > 0 else [])]
        raise ToolError(
            "The tool was not written:\n- " + "\n- ".join(shown), hint="Correct this and send all of it again."
        )
    examples = tuple({"arguments": dict(e.arguments), "result": e.result} for e in wanted.examples)
    why = " ".join(wanted.why.split())[:500]
    return Draft(
        name=name, code=code, shape=shape, permissions=permissions, examples=examples, why=why, seconds=wanted.seconds
    )


def _plain(code: str) -> str:
    """As it is kept: one kind of line end, one at the end."""
    return code.replace("\r\n", "\n").replace("\r", "\n").strip("\n") + "\n"


def read_code(code: str, permissions: Permissions) -> tuple[Shape | None, list[str]]:
    """The shape of code, or None; and what is wrong with it. Nothing is run."""
    if len(code) > CODE or code.count("\n") > LINES:
        return None, [
            f"code: {len(code):,} characters, {code.count(chr(10)):,} lines; {CODE:,} and {LINES:,} are the most"
        ]
    if odd := next((c for c in code if not (c.isprintable() or c in "\n\t")), ""):
        line = code[: code.index(odd)].count("\n") + 1
        return None, [f"line {line}: the character U+{ord(odd):04X} cannot be seen; write it as an escape"]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
            compile(tree, "tool.py", "exec", dont_inherit=True)  # what parses may still be no code: return outside …
        shape, problems = read_shape(tree)
        return shape, [*problems, *findings(tree, permissions)]
    except SyntaxError as error:
        return None, [f"line {error.lineno or 0}: {error.msg}"]
    except (RecursionError, MemoryError, ValueError):
        return None, ["code: it is nested too deeply to be read"]


def _example_problems(examples: Sequence[Example], shape: Shape) -> list[str]:
    from hermes_tool_workshop.arguments import misfit

    if not examples:
        return ["examples: at least one call is needed, which is tried before the tool is kept"]
    if len(examples) > EXAMPLES:
        return [f"examples: {len(examples)} of them; {EXAMPLES} is the most"]
    found = []
    for number, example in enumerate(examples):
        try:
            json.dumps([example.arguments, example.result])
        except (ValueError, RecursionError):
            found.append(f"examples[{number}]: it is nested too deeply")
            continue
        found += [f"examples[{number}].{text}" for text in misfit(shape, example.arguments)]
    return found
