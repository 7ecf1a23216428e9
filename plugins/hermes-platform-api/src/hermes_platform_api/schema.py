"""Checking a request against the schema that the OpenAPI document shows: one source for both."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from hermes_platform_api.errors import ApiError

__all__ = ["check"]

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_pattern = cache(re.compile)


def check(value: Any, schema: Mapping[str, Any], at: str = "") -> None:
    """Raises ApiError, which says where, unless a value fits a schema. Knows the keywords that ``shapes`` uses."""
    if "anyOf" in schema:
        _any(value, schema["anyOf"], at)
    kinds = schema.get("type")
    if kinds and not any(_is(value, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds)):
        wanted = kinds if isinstance(kinds, str) else " or ".join(kinds)
        raise _wrong(at, f"must be {wanted}")
    if "enum" in schema and not any(value == one and type(value) is type(one) for one in schema["enum"]):
        raise _wrong(at, f"must be one of {', '.join(map(repr, schema['enum']))}")
    if isinstance(value, dict):
        _object(value, schema, at)
    elif isinstance(value, list):
        _array(value, schema, at)
    elif isinstance(value, str):
        _text(value, schema, at)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if value < schema.get("minimum", value):
            raise _wrong(at, f"must be at least {schema['minimum']}")
        if value > schema.get("maximum", value):
            raise _wrong(at, f"must be at most {schema['maximum']}")


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[kind])


def _any(value: Any, schemas: Sequence[Mapping[str, Any]], at: str) -> None:
    """One of them must fit; else the one that came furthest says what is wrong, of those that are meant."""
    furthest: ApiError | None = None
    meant = [one for one in schemas if not _unlike(value, one)]
    if (
        not meant
        and isinstance(value, dict)
        and (names := set.intersection(*(_unlike(value, one) for one in schemas)) - {""})
    ):
        name = min(names)
        allowed = [repr(word) for one in schemas for word in one["properties"][name]["enum"]]
        raise _wrong(f"{at}.{name}" if at else name, f"must be one of {', '.join(dict.fromkeys(allowed))}")
    for one in meant or schemas:
        try:
            return check(value, one, at)
        except ApiError as error:
            if furthest is None or len(error.param) > len(furthest.param):
                furthest = error
    assert furthest
    raise furthest


def _unlike(value: Any, schema: Mapping[str, Any]) -> set[str]:
    """What says that a value is none of these: its kind, or what it can only be (``role``, ``type``)."""
    kinds = schema.get("type")
    if isinstance(kinds, str) and not _is(value, kinds):
        return {""}
    if not isinstance(value, dict):
        return set()
    enums = {name: one["enum"] for name, one in schema.get("properties", {}).items() if "enum" in one}
    return {name for name, enum in enums.items() if name in value and value[name] not in enum}


def _object(value: dict[str, Any], schema: Mapping[str, Any], at: str) -> None:
    for name in schema.get("required", ()):
        if name not in value:
            raise _wrong(f"{at}.{name}" if at else name, "is missing")
    if len(value) > schema.get("maxProperties", len(value)):
        raise _wrong(at, f"must have at most {schema['maxProperties']} entries")
    known, others = schema.get("properties", {}), schema.get("additionalProperties")
    for name, one in value.items():
        if name in known:
            check(one, known[name], f"{at}.{name}" if at else name)
        elif others is not None:
            check(one, others, f"{at}.{name[:80]}" if at else name[:80])


def _array(value: list[Any], schema: Mapping[str, Any], at: str) -> None:
    if len(value) > schema.get("maxItems", len(value)):
        raise _wrong(at, f"must have at most {schema['maxItems']:,} items")
    if len(value) < schema.get("minItems", 0):
        raise _wrong(at, f"must have at least {schema['minItems']} items")
    if "items" in schema:
        for number, one in enumerate(value):
            check(one, schema["items"], f"{at}[{number}]")


def _text(value: str, schema: Mapping[str, Any], at: str) -> None:
    if len(value) > schema.get("maxLength", len(value)):
        raise _wrong(at, f"must have at most {schema['maxLength']:,} characters")
    if len(value) < schema.get("minLength", 0):
        raise _wrong(at, "must not be empty")
    if "pattern" in schema and not _pattern(schema["pattern"]).search(value):
        raise _wrong(at, f"must look like {schema['pattern']}")


def _wrong(at: str, text: str) -> ApiError:
    return ApiError(400, "invalid_value", f"{at or 'The body'} {text}.", param=at)
