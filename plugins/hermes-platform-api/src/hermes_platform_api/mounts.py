"""What plugins serve on this server, each below a path of its own."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hermes_core.errors import HermesError, PluginError
from hermes_core.types import Principal, RouteRow
from hermes_platform_api.errors import ApiError
from hermes_platform_api.routes import ROUTES
from hermes_platform_api.shapes import LIMITS

__all__ = ["Mount", "mounts"]

_DESCRIBED = "application/vnd.oai.openapi+json"
# What plugins may serve at the root of the host (RFC 8615): a public route of that name, where one plugin alone has it.
_WELL_KNOWN = frozenset({"agent-card.json"})


class Mount:
    """Routes of one plugin. ``public``: anybody is answered there. ``short`` is another path of them, or empty."""

    def __init__(self, row: RouteRow, short: str = "") -> None:
        self.path, self.public, self.plugin, self.short = row.path, row.public, row.plugin, short
        self._folder = isinstance(row.app, Path)
        files = isinstance(row.app, Path) and StaticFiles(directory=row.app, html=True, check_dir=False)
        self._app: ASGIApp = files or row.app  # type: ignore[assignment]

    def holds(self, path: str) -> bool:
        """Whether a path is served here."""
        return bool(self._root(path))

    def _root(self, path: str) -> str:
        """Return the path of it below which another path is; empty where there is none."""
        return next((one for one in (self.path, self.short) if one and f"{path}/".startswith(f"{one}/")), "")

    async def described(self, owner: Principal) -> Mapping[str, Any]:
        """Return what an OpenAPI document says of its paths; nothing where it has none. Never raises."""
        if self._folder:
            return {}
        status, kind, data = 0, "", b""

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            nonlocal status, kind, data
            if message["type"] == "http.response.start":
                status = message["status"]
                kind = dict(message.get("headers", ())).get(b"content-type", b"").decode("latin-1")
            else:
                data += message.get("body", b"")

        path = f"{self.path}/openapi.json"
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
            "path": path, "raw_path": path.encode(), "root_path": "", "query_string": b"",
            "headers": [(b"host", b"localhost"), (b"accept", _DESCRIBED.encode())],
        }  # fmt: skip
        try:
            await self.serve(scope, receive, send, None if self.public else owner)
            told = json.loads(data) if status == 200 and kind.startswith(_DESCRIBED) else {}
            return {f"{self.short or self.path}{one}": value for one, value in told.get("paths", {}).items()}
        except (ApiError, HermesError, ValueError, AttributeError):  # a plugin that has none, or says nonsense
            return {}

    async def serve(self, scope: Scope, receive: Receive, send: Send, owner: Principal | None) -> None:
        """Answer a request of ``owner``, or of anybody. Raises ApiError for what is wrong, and HermesError."""
        root = self._root(scope["path"])
        if self._folder and scope["path"] == root:
            await RedirectResponse(f"{root}/")(scope, receive, send)
            return
        if self._folder and "/." in scope["path"]:
            raise ApiError(404, "not_served", "Files whose names begin with a dot are not served.")
        size, too_large = 0, False

        async def bounded() -> Message:
            nonlocal size, too_large
            message = await receive()
            size += len(message.get("body", b""))
            too_large = too_large or size > LIMITS["body_bytes"]
            return {"type": "http.disconnect"} if too_large else message

        inner = {**scope, "root_path": scope.get("root_path", "") + root, "hermes.owner": owner}
        try:
            await self._app(inner, bounded, send)
        except HTTPException as error:
            raise ApiError(error.status_code, "not_served", error.detail or "That is not served here.") from None
        except PluginError:
            text = f"{self.plugin} could not answer. The server's log says why."
            raise ApiError(500, "plugin_failed", text) from None
        if too_large:
            raise ApiError(413, "body_too_large", f"A request has at most {LIMITS['body_bytes']:,} bytes.")


def mounts(rows: Sequence[RouteRow]) -> Sequence[Mount]:
    """What is served, the longest path first. Where no other one has its name, a route has another path, too.

    One behind the key is at ``/api/NAME``, and a public one at ``/.well-known/NAME`` if that may be at the root.
    """
    names = Counter(row.path.rpartition("/")[2] for row in rows)
    names.update(route.path.split("/")[2] for route in ROUTES if route.path.startswith("/api/"))
    made = []
    for row in sorted(rows, key=lambda row: -len(row.path)):
        name, short = row.path.rpartition("/")[2], ""
        if names[name] == 1 and not isinstance(row.app, Path):
            short = f"/api/{name}" if not row.public else f"/.well-known/{name}" if name in _WELL_KNOWN else ""
        made.append(Mount(row, short))
    return made
