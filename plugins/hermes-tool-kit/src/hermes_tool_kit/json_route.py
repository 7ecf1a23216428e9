"""A route that speaks JSON: what comes is read within a bound, and errors of the house become answers with a status."""

import json
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import Any

from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Principal, Routes
from hermes_core.values import frozen

__all__ = ["DESCRIBED", "Asked", "NoMethod", "Operation", "json_route"]

DESCRIBED = "application/vnd.oai.openapi+json"  # of OpenAPI documents

_LARGEST = 200_000  # bytes of a body
_WITH_BODY = ("POST", "PATCH")
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class NoMethod(Exception):
    """Nothing is done by this method here."""


@frozen(kw_only=True)
class Asked:
    """A request: whose key it came with, its method, the parts of its path below the route, and what it says."""

    owner: Principal
    method: str
    words: Sequence[str]
    query: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def reads(self) -> bool:
        """Whether it only looks."""
        return self.method in ("GET", "HEAD")


@frozen(kw_only=True)
class Operation:
    """What one method does at a path below a route, for its OpenAPI document.

    ``name`` is unique in the route. ``fields`` are those of the body and ``query`` those of the query, each with its
    JSON type; ``strings`` is a list of text. ``needed`` are the fields without which it is refused.
    """

    method: str
    path: str
    name: str
    summary: str
    status: int = 200
    fields: Mapping[str, str] = {}
    needed: Sequence[str] = ()
    query: Mapping[str, str] = {}


def json_route(
    name: str, answer: Callable[[Asked], Awaitable[tuple[int, object]]], operations: Sequence[Operation] = ()
) -> Routes:
    """Return a route: ``answer`` gives a status and what becomes JSON, and may raise UserError and NoMethod.

    ``GET openapi.json`` below it has the paths of its ``operations``, as OpenAPI 3.1 writes them.
    """

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if operations and scope["method"] == "GET" and str(scope["path"]).endswith(f"/{name}/openapi.json"):
            data = json.dumps({"paths": _described(operations)}).encode()
            headers = [(b"content-type", DESCRIBED.encode()), (b"content-length", str(len(data)).encode())]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": data})
            return
        try:
            status, said = await answer(await _asked(scope, receive))
        except NoMethod:
            status, said = 405, {"error": "That cannot be done here."}
        except UnknownName as error:
            status, said = 404, {"error": error.text}
        except UserError as error:
            status, said = 400, {"error": error.text, "hint": error.hint}
        data = b"" if scope["method"] == "HEAD" else json.dumps(said, ensure_ascii=False).encode(errors="replace")
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(data)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": data})

    return Routes(name=name, app=app)


def _described(operations: Sequence[Operation]) -> Mapping[str, Any]:
    """Return the paths of operations, below those of their route."""
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        where = [
            {"in": "path", "name": word, "required": True, "schema": {"type": "string"}}
            for word in re.findall(r"{(\w+)}", one.path)
        ]
        where += [{"in": "query", "name": word, "schema": _schema(kind)} for word, kind in one.query.items()]
        told: dict[str, Any] = {"operationId": one.name, "summary": one.summary, "parameters": where}
        if one.fields:
            fields = {word: _schema(kind) for word, kind in one.fields.items()}
            body = {"type": "object", "properties": fields, "required": [*one.needed], "additionalProperties": False}
            told["requestBody"] = {"required": bool(one.needed), "content": {"application/json": {"schema": body}}}
        wrong = {"type": "object", "properties": {"error": {"type": "string"}, "hint": {"type": "string"}}}
        told["responses"] = {
            str(one.status): _said("It is done.", {"type": "object"}),
            "400": _said("It cannot be done as it is said.", wrong),
            "404": _said("It is not there, or not yours.", wrong),
        }
        paths.setdefault(one.path, {})[one.method.lower()] = told
    return paths


def _schema(kind: str) -> Mapping[str, Any]:
    return {"type": "array", "items": {"type": "string"}} if kind == "strings" else {"type": kind}


def _said(text: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"description": text, "content": {"application/json": {"schema": schema}}}


async def _asked(scope: Scope, receive: Receive) -> Asked:
    from urllib.parse import parse_qs

    path = str(scope["path"]).removeprefix(str(scope.get("root_path") or ""))
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
    return Asked(
        owner=scope["hermes.owner"],
        method=str(scope["method"]),
        words=[one for one in path.split("/") if one],
        query={key: values[-1] for key, values in query.items()},
        body=await _body(receive) if scope["method"] in _WITH_BODY else {},
    )


async def _body(receive: Receive) -> Mapping[str, Any]:
    data, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise UserError("The request did not come whole.")
        data, more = data + message.get("body", b""), message.get("more_body", False)
        if len(data) > _LARGEST:
            raise UserError(f"That is too long: {_LARGEST:,} bytes are the most.")
    try:
        found = json.loads(data or b"{}")
        # Half of a pair of surrogates can be kept nowhere.
        said = json.loads(json.dumps(found, ensure_ascii=False).encode(errors="replace"))
    except (ValueError, RecursionError):
        raise UserError("The body is no JSON.") from None
    if not isinstance(said, dict):
        raise UserError("The body is no JSON object.")
    return said
