"""`hermes web` is no tool of Hermes: who sits at the page is asked, and what they answer reaches the model."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

pytestmark = [pytest.mark.long, pytest.mark.real_time]
QUESTION = {"question": "Which port?", "choices": ["8080", "9090"]}


class Model:
    """A service of OpenAI's protocol that asks first, and then says what it was told."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.url = ""

    async def answer(self, request: web.Request) -> web.Response:
        messages = (await request.json())["messages"]
        last = messages[-1]
        if last["role"] == "tool":
            self.told.append(str(last["content"]))
            return _reply({"content": "Understood."}, "stop")
        call = {"name": "clarify", "arguments": json.dumps(QUESTION)}
        if any(message["role"] == "tool" for message in messages):
            return _reply({"content": "A title"}, "stop")
        return _reply({"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": call}]}, "tool_calls")


def _reply(delta: dict[str, Any], reason: str) -> web.Response:
    choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": reason}
    event = json.dumps({"id": "1", "object": "chat.completion.chunk", "choices": [choice]})
    return web.Response(text=f"data: {event}\n\ndata: [DONE]\n\n", content_type="text/event-stream")


@pytest.fixture
async def model() -> AsyncIterator[Model]:
    made, app = Model(), web.Application()
    app.router.add_post("/v1/chat/completions", made.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    yield made
    await runner.cleanup()


class Page:
    """What a browser is sent."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket, self._seen = socket, b""

    async def until(self, wanted: str) -> None:
        async with asyncio.timeout(60):
            while wanted.encode() not in self._seen:
                data = (await self._socket.receive()).data
                assert data is not None, f"the page closed before it showed {wanted}"
                self._seen += data if isinstance(data, bytes) else b""

    async def type(self, text: str) -> None:
        await self._socket.send_str(json.dumps(["stdin", text]))


def started(home: Path, work: Path) -> "subprocess.Popen[str]":
    """`hermes web` as a person starts it."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(home.parent), "HERMES_HOME": str(home), "KEY": "k"}
    command = [sys.executable, "-m", "hermes_core", "web", "--port", "0", "--json", "--no-open"]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environ, cwd=work
    )


async def test_who_sits_at_the_page_is_asked_and_their_answer_counts(model: Model, tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    (home / "config.yaml").write_text(
        f"model: {{provider: here, default: any}}\nproviders: {{here: {{base_url: '{model.url}', key_env: KEY}}}}\n"
    )
    server = started(home, work)
    try:
        assert server.stdout
        told = json.loads(server.stdout.readline())
        base = f"http://127.0.0.1:{told['port']}"
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as client:
            await (await client.get(told["url"])).read()
            socket = await client.ws_connect(f"{base}/ws?width=120&height=40", headers={"Origin": base})
            page = Page(socket)
            await page.until("Ask anything")
            await page.type("Serve it.")
            await page.until("Serve it.")
            await page.type("\r")
            await page.until("Which port?")
            await asyncio.sleep(1.5)  # keys that were meant for the line are not taken for an answer
            await page.type("2")
            await page.type("\r")
            await page.until("Understood.")
        [answer] = model.told
        assert "9090" in answer
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(30)
        assert server.stdout
        server.stdout.close()
