"""Who is blocked is heard at no door: their key opens nothing, until somebody lets them back in."""

import asyncio
from typing import Any

ALICE = "alices-key-0123456789"

SAID = {"model": "hermes", "messages": [{"role": "user", "content": "Hi."}]}
ROUTES = [
    ("POST", "/v1/chat/completions"),
    ("POST", "/v1/responses"),
    ("POST", "/v1/messages"),
    ("POST", "/v1/runs"),
    ("GET", "/v1/models"),
    ("GET", "/api/sessions"),
]


async def ask(http: Any) -> Any:
    return await http.post("/v1/chat/completions", json=SAID)


async def test_a_blocked_persons_key_is_closed_and_opened_again(serve: Any, scripted: Any) -> None:
    model = scripted("Hello.", "Hello again.")
    async with serve(model, None, "hermes_platform_gateway") as server, server.http(ALICE) as alice:
        assert (await ask(alice)).json()["choices"][0]["message"]["content"] == "Hello."
        told = await server.bench.command("people block", "alice")
        assert "alice is blocked" in told
        for method, path in ROUTES:
            answer = await alice.request(method, path, json=SAID if method == "POST" else None)
            assert (answer.status_code, answer.json()["error"].get("code", "key_closed")) == (403, "key_closed"), path
        async with server.http() as owner:
            assert (await owner.get("/v1/models")).status_code == 200, "nobody else's is closed"
        assert len(model.requests) == 1, "nothing was spent"
        assert "heard again" in await server.bench.command("people unblock", "alice")
        assert (await ask(alice)).json()["choices"][0]["message"]["content"] == "Hello again."


async def test_a_key_that_was_never_used_is_closed_too(serve: Any, scripted: Any) -> None:
    async with serve(scripted(), None, "hermes_platform_gateway") as server, server.http(ALICE) as alice:
        await server.bench.command("people block", "alice")
        assert (await ask(alice)).status_code == 403


async def test_the_turn_that_runs_for_them_is_stopped(serve: Any, scripted: Any) -> None:

    begun, model = asyncio.Event(), scripted()

    async def waits(request: Any) -> Any:
        begun.set()
        await asyncio.Event().wait()
        yield None

    model.stream = waits
    async with serve(model, None, "hermes_platform_gateway") as server, server.http(ALICE) as alice:
        asked = asyncio.create_task(ask(alice))
        await asyncio.wait_for(begun.wait(), 20)
        await server.bench.command("people block", "alice")
        answer = await asyncio.wait_for(asked, 20)
        assert answer.status_code == 409
        await server.until(lambda: not server.running)


async def test_a_role_that_is_blocked_closes_the_key_as_well(serve: Any, scripted: Any) -> None:
    settings = {"roles.people": {"alice": "blocked"}}
    async with serve(scripted(), settings) as server, server.http(ALICE) as alice:
        assert (await ask(alice)).status_code == 403
