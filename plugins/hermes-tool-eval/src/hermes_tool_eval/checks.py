"""Whether an answer is what a case expects, as far as that needs no model."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen

from hermes_core.errors import OutOfReach
from hermes_core.types import JSON
from hermes_paths.places import PathRules, open_path

__all__ = ["Found", "checked"]

_FENCED = re.compile(r"\A\s*```(?:json)?[ \t]*\n(.*?)\n?```\s*\Z", re.DOTALL)
_READ = 4 * 2**20  # bytes of a file that are looked at
_SHOWN = 60  # characters of what was wanted


@frozen
class Found:
    """What one check found: its ``kind``, a ``score`` from 0 to 1, whether that is enough, and what is missing."""

    kind: str
    score: float
    ok: bool
    why: str = ""


def checked(expect: Mapping[str, JSON], answer: str, folder: Path | None) -> list[Found]:
    """Check an answer, and the files in the ``folder`` of its turn; a ``judge`` is left to others."""
    found: list[Found] = []
    for kind, wanted in expect.items():
        if kind == "files":
            found += [_file(name, inner, folder) for name, inner in wanted.items()]
        elif kind != "judge":
            why = _wrong(kind, wanted, answer)
            found.append(Found(kind, float(not why), not why, why))
    return found


def _wrong(kind: str, wanted: JSON, text: str) -> str:
    if kind == "schema":
        return _misfit(wanted, text)
    many: Sequence[str] = [wanted] if isinstance(wanted, str) else wanted
    if kind == "equals":
        return "" if text.strip() in [one.strip() for one in many] else f"it is not {_short(many[0])}"
    if kind == "regex":
        return next((f"nothing matches {_short(one)}" for one in many if not re.search(one, text)), "")
    if kind == "lacks":
        return next((f"it says {_short(one)}" for one in many if one.casefold() in text.casefold()), "")
    return next((f"it lacks {_short(one)}" for one in many if one.casefold() not in text.casefold()), "")


def _misfit(schema: JSON, text: str) -> str:
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
    from jsonschema.exceptions import best_match  # type: ignore[import-untyped]
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    fenced = _FENCED.match(text)
    try:
        value = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return "it is no JSON"
    registry: Registry[JSON] = Registry()  # nothing is fetched
    try:
        error = best_match(Draft202012Validator(schema, registry=registry).iter_errors(value))
    except (Unresolvable, RecursionError) as unclear:
        return f"the schema cannot be followed: {unclear}"[:200]
    return "" if error is None else f"{error.json_path}: {error.message}"[:200]


def _file(name: str, expect: Mapping[str, JSON], folder: Path | None) -> Found:
    """Check a file that a turn may have written, also a link or a pipe in its place."""
    try:
        rules = PathRules(cwd=str(folder), roots=[str(folder)])
        with open(open_path(name, rules), "rb") as file:  # noqa: PTH123 - a descriptor
            text = file.read(_READ).decode("utf-8", "replace")
    except (OSError, OutOfReach) as error:
        why = error.strerror if isinstance(error, OSError) else error.text
        return Found("files", 0.0, False, f"{name}: {why}")
    wrong = next((why for kind, wanted in expect.items() if (why := _wrong(kind, wanted, text))), "")
    return Found("files", float(not wrong), not wrong, f"{name}: {wrong}" if wrong else "")


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
