"""Arguments in other forms than JSON, and the values that a schema wants."""

import ast
import json
import re
from collections.abc import Mapping
from typing import Any

from hermes_core.types import ToolSpec
from hermes_provider_kit.calls.lenient import Unsure, value_of

__all__ = ["fitted", "folded_name", "read"]

_OPENS = re.compile(r"<parameter(?:=|\s+name=)[\"']?(?P<name>[\w.-]+)[\"']?\s*>")
_BEGINS = re.compile(
    r"<(?:tool_call|parameters?|(?:function|invoke)(?:(?:=|\s+name=)[\"']?(?P<name>[\w.:/-]+)[\"']?)?)\s*>"
)
_ENDS = re.compile(r"</(?:tool_call|function|invoke|parameters?)\s*>")
_CALLED = re.compile(r"(?P<name>[\w.]*)\s*\(")
_PREFIX = re.compile(r"^(?:functions?|tools?|default_api|multi_tool_use)[.:/]", re.IGNORECASE)
_LEAKED = re.compile(r"<\||[\s({<\[]")  # marks of a template, and arguments that stand in the name
_ARGUMENTS = ("arguments", "parameters", "args", "input")
_NAMES = ("name", "function", "tool", "tool_name")
LONGEST_PYTHON = 200_000


def folded_name(name: str) -> str:
    """Give what is the same for all spellings of a tool's name."""
    return _folded(_LEAKED.split(_PREFIX.sub("", name.strip()))[0])


def read(text: str, spec: ToolSpec, *, cut: bool) -> dict[str, Any] | None:
    """Read arguments that are no JSON; None where they cannot be read, or in more than one way."""
    if not cut:
        if "<parameter" in text:
            return _tagged(text, spec)
        bare = text.strip().removesuffix(";").rstrip()
        if bare.endswith(")") and (call := _CALLED.match(bare)):
            return _called(bare, call["name"], spec)
    try:
        value = value_of(text, cut=cut)
        if isinstance(value, str):
            value = value_of(value, cut=cut)
    except (Unsure, RecursionError):
        return None
    return _unwrapped(value, spec) if isinstance(value, dict) else None


def fitted(value: Mapping[str, Any], spec: ToolSpec) -> dict[str, Any]:
    """Give arguments with the names and types of a schema, where each can be meant one way only; else as they are."""
    value = _unwrapped(value, spec)
    known = spec.schema.get("properties")
    if not isinstance(known, Mapping):
        return dict(value)
    by_fold: dict[str, list[str]] = {}
    for name in known:
        by_fold.setdefault(_folded(name), []).append(name)
    made: dict[str, Any] = {}
    for name, one in value.items():
        close = by_fold.get(_folded(name), [])
        free = name not in known and len(close) == 1 and close[0] not in value and close[0] not in made
        made[close[0] if free else name] = one
    return {name: _typed(one, known.get(name)) for name, one in made.items()}


def _unwrapped(value: Mapping[str, Any], spec: ToolSpec) -> dict[str, Any]:
    """Take the arguments out of a call that stands where its arguments should."""
    known = spec.schema.get("properties")
    known = known if isinstance(known, Mapping) else {}
    inner = [name for name in _ARGUMENTS if name in value and name not in known]
    names = [name for name in _NAMES if name in value and name not in known]
    if len(inner) != 1 or len(value) != len(inner) + len(names) or any(value[name] != spec.name for name in names):
        return dict(value)
    found = value[inner[0]]
    if isinstance(found, str):
        try:
            found = value_of(found)
        except (Unsure, RecursionError):
            return dict(value)
    return dict(found) if isinstance(found, Mapping) else dict(value)


def _tagged(text: str, spec: ToolSpec) -> dict[str, Any] | None:
    """Read ``<parameter=name>value</parameter>``, as Qwen and others write it; nothing else may stand between them."""
    *pieces, after = text.split("</parameter>")
    found: dict[str, Any] = {}
    for piece in pieces:
        opened = _OPENS.search(piece)
        if not opened or opened["name"] in found or "<parameter" in piece[opened.end() :]:
            return None
        before = piece[: opened.start()]
        if before.strip() and (found or not _begins(before, spec)):
            return None  # another call, or words
        found[opened["name"]] = _lines(piece[opened.end() :])
    return found if found and not _ENDS.sub("", after).strip() else None


def _begins(text: str, spec: ToolSpec) -> bool:
    """Tell whether a text is nothing but the beginning of one call of this tool."""
    names = [one["name"] for one in _BEGINS.finditer(text) if one["name"]]
    return not _BEGINS.sub("", text).strip() and len(names) < 2 and all(_same(name, spec) for name in names)


def _same(name: str, spec: ToolSpec) -> bool:
    return folded_name(name) == folded_name(spec.name)


def _lines(text: str) -> str:
    """Take off the line ends that stand between a tag and its text."""
    return text.removeprefix("\n").removesuffix("\n")


def _called(text: str, name: str, spec: ToolSpec) -> dict[str, Any] | None:
    """Read ``name(a="x", b=3)``, as a call in Python; one of another tool is none of this one."""
    if len(text) > LONGEST_PYTHON or (name and not _same(name, spec)):
        return None
    try:
        parsed = ast.parse(text if name else f"f{text}", mode="eval").body
        if not isinstance(parsed, ast.Call) or parsed.args:
            return None
        found = {one.arg: ast.literal_eval(one.value) for one in parsed.keywords if one.arg}
        if len(found) != len(parsed.keywords):
            return None
        made = json.loads(json.dumps(found))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None
    return made if made == found else None


def _typed(value: Any, row: Any) -> Any:
    """Give a value in the type that is wanted, where it says the same."""
    if not isinstance(row, Mapping):
        return value
    if isinstance(choices := row.get("enum"), list) and isinstance(value, str) and value not in choices:
        close = [one for one in choices if isinstance(one, str) and _folded(one) == _folded(value)]
        return close[0] if len(close) == 1 else value
    wanted = _wanted(row)
    if isinstance(value, str) and wanted and "string" not in wanted:
        return _of_text(value, wanted, row)
    if wanted == {"string"} and type(value) is int:  # a fraction may have been written otherwise: 3.10
        return json.dumps(value)
    if wanted == {"integer"} and isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, list) and "array" in wanted:
        return [_typed(one, row.get("items")) for one in value]
    if isinstance(value, Mapping) and "object" in wanted and isinstance(inner := row.get("properties"), Mapping):
        return {name: _typed(one, inner.get(name)) for name, one in value.items()}
    return value


def _of_text(text: str, wanted: set[str], row: Mapping[str, Any]) -> Any:
    if text.strip().casefold() in ("true", "false") and "boolean" in wanted:
        return text.strip().casefold() == "true"
    if text.strip() in ("null", "None") and "null" in wanted:
        return None
    try:
        value = value_of(text)
    except (Unsure, RecursionError):
        return text
    kinds = {int: ("integer", "number"), float: ("number",), list: ("array",), dict: ("object",)}
    if type(value) is float and value.is_integer() and wanted & {"integer"} and abs(value) < 2**53:
        value = int(value)
    if not wanted & set(kinds.get(type(value), ())):
        return text
    return _typed(value, row)


def _wanted(row: Mapping[str, Any]) -> set[str]:
    """Give the types that a schema takes; empty where it takes anything, or does not say."""
    found: set[str] = set()
    told = row.get("type")
    found |= {told} if isinstance(told, str) else set(told) if isinstance(told, list) else set()
    for name in ("anyOf", "oneOf"):
        for one in row.get(name) or ():
            if not isinstance(one, Mapping) or not (inner := _wanted(one)):
                return set()  # anything goes
            found |= inner
    return found


def _folded(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold()) or name
