"""What answers a request: the SDK's two bindings, over the tasks of the person whose key it is."""

import logging
from typing import TYPE_CHECKING, Any

from a2a.server.context import ServerCallContext
from a2a.server.routes.common import DefaultServerCallContextBuilder
from a2a.server.routes.jsonrpc_dispatcher import JsonRpcDispatcher
from a2a.server.routes.rest_routes import create_rest_routes
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, Router

from hermes_core.context import PluginContext
from hermes_platform_a2a.card import card_json
from hermes_platform_a2a.handler import Handler
from hermes_platform_a2a.route import WELL_KNOWN
from hermes_platform_a2a.tasks import Tasks

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

__all__ = ["Serving"]

# It logs what clients send wrong, with a traceback for each: they are told, and what breaks here the handler logs.
logging.getLogger("a2a.server").setLevel(logging.CRITICAL)
logging.getLogger("a2a.utils").setLevel(logging.CRITICAL)
_NO_TEXT = {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "The body is no JSON in UTF-8."}}


class _Contexts(DefaultServerCallContextBuilder):
    """Says of each request whose it is, as the host knows."""

    def build(self, request: Request) -> ServerCallContext:
        context = super().build(request)
        context.state["owner"] = request.scope["hermes.owner"]
        return context


class Serving:
    """The application behind the key."""

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx
        if "tasks" not in ctx.state:
            ctx.state["tasks"] = Tasks(ctx)
        handler, contexts = Handler(ctx, ctx.state["tasks"]), _Contexts()
        self._rpc = JsonRpcDispatcher(handler, contexts)
        rest: list[Any] = [one for one in create_rest_routes(handler, contexts) if isinstance(one, Route)]
        self._rest = Router([Route(WELL_KNOWN, self._card, methods=["GET"]), *rest])

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer one request: what is posted to the address itself is JSON-RPC, the rest HTTP+JSON."""
        if scope["method"] != "POST":
            await self._rest(scope, receive, send)
            return
        try:
            body = await Request(scope, receive).body()
            body.decode()
        except ClientDisconnect:
            return
        except UnicodeDecodeError:  # the SDK would take it for an error of ours
            await JSONResponse(_NO_TEXT, 400)(scope, receive, send)
            return
        given = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> "Message":
            return given.pop() if given else await receive()

        if scope["path"].removeprefix(scope["root_path"]) in ("", "/"):
            response = await self._rpc.handle_requests(Request(scope, again))
            await response(scope, again, send)
            return
        await self._rest(scope, again, send)

    async def _card(self, request: Request) -> Response:
        return Response(card_json(self._ctx, request.scope), media_type="application/json")
