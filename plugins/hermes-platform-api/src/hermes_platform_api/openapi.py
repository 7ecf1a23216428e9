"""The OpenAPI 3.1 document, made from the routes and shapes that serve and check requests."""

import re
from importlib.metadata import version
from typing import Any

from hermes_platform_api.routes import OPEN, ROUTES, Route
from hermes_platform_api.shapes import ANSWERS, BODIES

__all__ = ["document"]

_HEADERS = {
    "X-Hermes-Session-Id": "Goes on in this session, or begins one with this id.",
    "X-Hermes-Session-Key": "Whose memory and sessions: a scope of the key's person.",
    "Idempotency-Key": "A repeat with the same key and body gets what the first came to; another body is refused.",
}
_HEADER = r"^[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}$"
_ERRORS = {
    "400": "The request is not as it must be.",
    "401": "The key is missing or wrong.",
    "403": "This host, origin or action is not allowed.",
    "404": "It is not there, or not yours.",
    "409": "Something else is under way there.",
    "410": "It is no longer kept.",
    "413": "The body is too large.",
    "415": "The body is no JSON.",
    "422": "The Idempotency-Key came with another request before.",
    "429": "Too many turns run, or a budget is used up.",
    "500": "A fault of the server.",
    "502": "The model refused or failed.",
    "503": "The model or the store cannot be reached.",
}
_ALWAYS = ("400", "401", "403", "500", "503")


def document() -> dict[str, Any]:
    """The whole document."""
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    own = {"operationId": "getOpenApi", "security": [], "responses": {"200": _json("OpenApi", "This document.")}}
    paths["/openapi.json"] = {"get": own}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Hermes",
            "version": version("hermes-core"),
            "summary": "An agent behind the APIs of OpenAI and Anthropic.",
        },
        "paths": paths,
        "security": [{"key": []}, {"x-api-key": []}],
        "components": {
            "schemas": {**BODIES, **ANSWERS},
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer"},
                "x-api-key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
            },
        },
    }


def _operation(route: Route) -> dict[str, Any]:
    named = re.findall(r"{(\w+)}", route.path)
    parameters = [_parameter("path", name, {"type": "string", "pattern": r"^[^/?#]+$"}) for name in named]
    parameters += [
        _parameter("query", name, {"type": "integer", "minimum": least, "maximum": most})
        for name, least, most in route.query
    ]
    if route.path not in OPEN:
        words = {"type": "string", "pattern": _HEADER}
        if route.turns:
            session = [_parameter("header", "X-Hermes-Session-Id", words)] if "{id}" not in route.path else []
            key = {"type": "string", "pattern": r"^[\x21-\x7e]{1,255}$"}
            parameters += [*session, _parameter("header", "Idempotency-Key", key)]
        if not route.handler.__module__.endswith(".about"):
            parameters.append(_parameter("header", "X-Hermes-Session-Key", words))
    found: dict[str, Any] = {"operationId": route.name, "summary": (route.handler.__doc__ or "").strip()}
    if parameters:
        found["parameters"] = parameters
    if route.body:
        schema = {"$ref": f"#/components/schemas/{route.body}"}
        needed = bool(BODIES[route.body].get("required"))
        found["requestBody"] = {"required": needed, "content": {"application/json": {"schema": schema}}}
    if route.path in OPEN:
        found["security"] = []
    wrong = "MessageError" if route.path.startswith("/v1/messages") else "Error"
    found["responses"] = {
        str(route.status): _success(route),
        **{code: _json(wrong, _ERRORS[code]) for code in _codes(route)},
    }
    return found


def _codes(route: Route) -> list[str]:
    if route.path in OPEN:
        return ["403"]
    more = {"404", "409"} if "{id}" in route.path or route.turns else set()
    more |= {"413", "415"} if route.body else set()
    more |= {"409", "422", "429", "502"} if route.turns else set()
    more |= {"404"} if route.name == "countTokens" else set()
    more |= {"409"} if route.method != "GET" else set()
    more |= {"410"} if route.name == "getRunEvents" else set()
    return sorted({*_ALWAYS, *more})


def _parameter(where: str, name: str, schema: dict[str, Any]) -> dict[str, Any]:
    found = {"in": where, "name": name, "required": where == "path", "schema": schema}
    return found | ({"description": _HEADERS[name]} if name in _HEADERS else {})


def _success(route: Route) -> dict[str, Any]:
    found: dict[str, Any] = (
        _json(route.answer, "It is done.") if route.answer else {"description": "Events, as they happen."}
    )
    if route.streams:
        found.setdefault("content", {})["text/event-stream"] = {"schema": {"$ref": "#/components/schemas/Event"}}
    return found


def _json(shape: str, text: str) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{shape}"}
    return {"description": text, "content": {"application/json": {"schema": schema}}}
