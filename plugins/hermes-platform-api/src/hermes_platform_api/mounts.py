"""What plugins serve on this server, each below a path of its own."""

from collections.abc import Sequence
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hermes_core.errors import PluginError
from hermes_core.types import Principal, RouteRow
from hermes_platform_api.errors import ApiError
from hermes_platform_api.shapes import LIMITS

__all__ = ["Mount", "mounts"]


class Mount:
    """Routes of one plugin. ``public``: anybody is answered there."""

    def __init__(self, row: RouteRow) -> None:
        self.path, self.public, self.plugin = row.path, row.public, row.plugin
        self._folder = isinstance(row.app, Path)
        files = isinstance(row.app, Path) and StaticFiles(directory=row.app, html=True, check_dir=False)
        self._app: ASGIApp = files or row.app  # type: ignore[assignment]

    def holds(self, path: str) -> bool:
        """Whether a path is served here."""
        return path == self.path or path.startswith(f"{self.path}/")

    async def serve(self, scope: Scope, receive: Receive, send: Send, owner: Principal | None) -> None:
        """Answer a request of ``owner``, or of anybody. Raises ApiError for what is wrong, and HermesError."""
        if self._folder and scope["path"] == self.path:
            await RedirectResponse(f"{self.path}/")(scope, receive, send)
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

        inner = {**scope, "root_path": scope.get("root_path", "") + self.path, "hermes.owner": owner}
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
    """What is served, the longest path first."""
    return [Mount(row) for row in sorted(rows, key=lambda row: -len(row.path))]
