"""A web app: answers as they come, each person in conversations of their own, and their yes from another request."""

import contextlib
import json
from collections.abc import AsyncIterator

from attrs import asdict
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from hermes_agent.people import Asking, answer, turn
from hermes_core.embed import Hermes
from hermes_core.types import Ended, Failed, Principal, Said

hermes = Hermes(provider="offline", home="state")


async def chat(request: Request) -> Response:
    owner = Principal(person=request.headers["x-user"])  # whom your login knows
    text = (await request.body()).decode()

    async def events() -> AsyncIterator[str]:
        async with contextlib.aclosing(turn(hermes, text, owner=owner)) as told:
            async for event in told:
                if isinstance(event, Said | Asking | Failed | Ended):
                    yield f"event: {type(event).__name__}\ndata: {json.dumps(asdict(event), default=str)}\n\n"

    return StreamingResponse(events(), media_type="text/event-stream")


async def settle(request: Request) -> Response:
    owner = Principal(person=request.headers["x-user"])
    await answer(hermes, request.path_params["id"], (await request.body()) == b"yes", by="the web", owner=owner)
    return JSONResponse({"settled": True})


app = Starlette(routes=[Route("/chat", chat, methods=["POST"]), Route("/answer/{id}", settle, methods=["POST"])])
