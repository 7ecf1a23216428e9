"""A route that speaks JSON: what comes is read within a bound, and errors of the house become answers with a status."""

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import Any

from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Principal, Routes
from hermes_core.values import frozen

__all__ = ["Asked", "NoMethod", "json_route"]

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


def json_route(name: str, answer: Callable[[Asked], Awaitable[tuple[int, object]]]) -> Routes:
    """Return a route: ``answer`` gives a status and what becomes JSON, and may raise UserError and NoMethod."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
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


async def _asked(scope: Scope, receive: Receive) -> Asked:
    from urllib.parse import parse_qs

    path = str(scope["path"]).removeprefix(str(scope.get("root_path") or ""))
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
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
        said = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        raise UserError("The body is no JSON.") from None
    if not isinstance(said, dict):
        raise UserError("The body is no JSON object.")
    return said
