"""The schema that an answer has to fit, ``Request.options["schema"]``, for services that can hold a model to one."""

from collections.abc import Mapping

from hermes_core.types import JSON, Request

__all__ = ["named", "wanted"]

NAME = "answer"
# What strict mode knows nothing of: https://developers.openai.com/api/docs/guides/structured-outputs.
UNKNOWN = frozenset(
    {
        *("allOf", "oneOf", "not", "if", "then", "else", "default", "prefixItems", "contains", "uniqueItems"),
        *("patternProperties", "propertyNames", "unevaluatedProperties", "dependentRequired", "dependentSchemas"),
    }
)
FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})


def wanted(request: Request) -> dict[str, JSON]:
    """Give the schema of a request; empty where any text will do.

    What is said beside a reference is left out: services refuse it, and the words of the request say it.
    """
    schema = request.options.get("schema")
    return {name: _bare(one) for name, one in schema.items()} if isinstance(schema, Mapping) else {}


def _bare(value: JSON) -> JSON:
    if isinstance(value, list):
        return [_bare(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    if isinstance(reference := value.get("$ref"), str):
        return {"$ref": reference}
    return {name: _bare(one) for name, one in value.items()}


def named(schema: Mapping[str, JSON]) -> dict[str, JSON]:
    """Give a schema as the services of OpenAI's protocols take it, strict where it can be: see UNKNOWN."""
    closed = _closed(schema)
    strict = _is_strict(closed)
    return {"name": NAME, "schema": closed if strict else dict(schema), "strict": strict}


def _closed(value: JSON) -> JSON:
    """Let no field stand in an object that is not named there, where the schema does not say; see FORMATS."""
    if isinstance(value, list):
        return [_closed(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    strange = isinstance(form := value.get("format"), str) and form not in FORMATS
    made = {name: _closed(one) for name, one in value.items() if not (strange and name == "format")}
    return {**made, "additionalProperties": False} if _is_object(made) and "additionalProperties" not in made else made


def _is_strict(value: JSON) -> bool:
    """Tell whether all fields of each object have to be there, and nothing stands there that strict mode refuses."""
    if isinstance(value, list):
        return all(map(_is_strict, value))
    if not isinstance(value, Mapping):
        return True
    if value.get("type") == "object":
        fields, needed = value.get("properties"), value.get("required", ())
        if not isinstance(fields, Mapping) or value.get("additionalProperties") is not False:
            return False
        if fields.keys() != set(needed if isinstance(needed, list) else ()):
            return False
    inner = [value[name] for name in ("items", "anyOf") if name in value]
    for name in ("properties", "$defs"):
        held = value.get(name)
        inner += held.values() if isinstance(held, Mapping) else ()
    return not UNKNOWN & value.keys() and all(map(_is_strict, inner))


def _is_object(schema: Mapping[str, JSON]) -> bool:
    return schema.get("type") == "object" and "properties" in schema
