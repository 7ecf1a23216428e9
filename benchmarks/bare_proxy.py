"""The baseline of ``api.py``: passes a request to the model server and its answer back. ``bare_proxy.py URL PORT``."""

import json
import sys
from collections.abc import AsyncIterator

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

url, port = sys.argv[1:]
client = httpx2.AsyncClient(timeout=60, limits=httpx2.Limits(max_connections=None))


async def complete(request: Request) -> Response:
    body = await request.json()
    body["model"] = "stream-20" if body["stream"] else "echo"
    if not body["stream"]:
        answer = await client.post(f"{url}/chat/completions", json=body)
        return Response(answer.content, media_type="application/json")

    async def passed() -> AsyncIterator[bytes]:
        headers = {"content-type": "application/json"}
        async with client.stream(
            "POST", f"{url}/chat/completions", content=json.dumps(body), headers=headers
        ) as answer:
            async for piece in answer.aiter_bytes():
                yield piece

    return StreamingResponse(passed(), media_type="text/event-stream")


app = Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])
uvicorn.run(
    app, host="127.0.0.1", port=int(port), log_level="error", access_log=False, http="httptools", loop="asyncio"
)
