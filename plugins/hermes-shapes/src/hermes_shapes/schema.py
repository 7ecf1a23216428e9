"""Whether a value has the shape that a JSON Schema says.

Held are type, enum, const, required, properties, additionalProperties, items, anyOf, oneOf, allOf, and ``$ref`` within
the schema. Formats, patterns and bounds say what a value means: that is to be checked by who knows.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from hermes_shapes.build import nearest

__all__ = ["NAMES", "misfits", "shown"]

JSON: TypeAlias = Any

_KINDS = {"string": str, "boolean": bool, "array": list, "object": Mapping, "null": type(None)}
NAMES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "nothing",
}
_MOST = 100_000  # steps: alternatives of alternatives double with each level
_OF = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}


def misfits(
    schema: JSON,
    value: JSON,
    whole: Mapping[str, JSON],
    path: str = "",
    seen: Sequence[str] = (),
    steps: Iterator[int] | None = None,
) -> Iterator[str]:
    """What does not fit, a line each; ``whole`` is where references lead to.

    Raises ValueError, or whatever reading it comes upon, for a schema that cannot be checked, RecursionError for a
    value that is nested too deeply, and OverflowError where there is no end to it. ``seen`` holds the references that
    led to this schema.
    """
    steps = steps or _bounded()
    next(steps)
    where = path or "arguments"
    if schema is True:
        return
    if schema is False:
        yield f"{where}: nothing may stand here"
        return
    if "$ref" in schema:
        name = schema["$ref"]
        if name in seen:
            raise ValueError(f"{name} leads to itself")
        yield from misfits(_target(whole, name), value, whole, path, (*seen, name), steps)
    if complaint := _unlike(schema, value):
        yield f"{where}: expected {complaint}, got {shown(value)}"
        return
    for one in schema.get("allOf", ()):
        yield from misfits(one, value, whole, path, seen, steps)
    for word in ("anyOf", "oneOf"):
        trials = [list(misfits(one, value, whole, path, seen, steps)) for one in schema.get(word, ())]
        if trials and all(trials):  # told is what it is most like: what is another thing altogether has one complaint
            yield from min(trials, key=lambda told: (told[0].startswith(f"{where}: "), len(told)))
    if isinstance(value, Mapping):
        yield from _of_object(schema, value, whole, path, steps)
    if isinstance(value, list) and "items" in schema:
        first = len(schema.get("prefixItems", ()))
        for place, one in enumerate(value[first:], first):
            yield from misfits(schema["items"], one, whole, f"{path}[{place}]", steps=steps)


def _bounded() -> Iterator[int]:
    yield from range(_MOST)
    raise OverflowError("too much to check")


def _unlike(schema: Mapping[str, JSON], value: JSON) -> str:
    """What was expected, where a value is of another type or none of those listed; else empty."""
    kinds = [kind] if isinstance(kind := schema.get("type", []), str) else kind
    if kinds and not any(_is(kind, value) for kind in kinds):
        return " or ".join(NAMES[kind] for kind in kinds)
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if choices is None or any(_same(value, one) for one in choices):
        return ""
    return f"one of {', '.join(map(str, choices))[:300]}"


def _of_object(
    schema: JSON, value: Mapping[str, JSON], whole: Mapping[str, JSON], path: str, steps: Iterator[int]
) -> Iterator[str]:
    front, known = f"{path}." if path else "", schema.get("properties", {})
    more = True if "patternProperties" in schema else schema.get("additionalProperties", True)
    for name, one in value.items():
        if name not in known and more is False:
            close = nearest(name[:100], known)
            yield f"{front}{name[:100]}: no such argument" + (f"; did you mean {close}?" if close else "")
        else:
            yield from misfits(known.get(name, more), one, whole, front + name[:100], steps=steps)
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{front}{name}: required, and missing"


def _target(whole: JSON, reference: str) -> JSON:
    """What a reference leads to. Raises ValueError, KeyError, IndexError when that is not in the schema."""
    first, *parts = reference.split("/")
    if first != "#":
        raise ValueError(f"{reference} leads out of the schema")
    for part in parts:
        key = part.replace("~1", "/").replace("~0", "~")
        whole = whole[int(key)] if isinstance(whole, list) else whole[key]
    return whole


def _is(kind: str, value: JSON) -> bool:
    if kind in ("integer", "number"):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and (kind == "number" or isinstance(value, int) or value.is_integer())
    return isinstance(value, _KINDS[kind])


def _same(one: JSON, other: JSON) -> bool:
    """Equal as JSON, where true is not 1."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def shown(value: JSON) -> str:
    """A value as the model reads it in a complaint: short, with what it is."""
    if value is None:
        return "nothing"
    text, kind = repr(value), _OF.get(type(value))
    return f"{text[:60]}{'…' if len(text) > 60 else ''} ({NAMES[kind] if kind else type(value).__name__})"
