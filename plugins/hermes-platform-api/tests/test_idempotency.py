"""A request that is repeated is done once, over restarts too."""

import asyncio
from typing import Any

from hermes_core.errors import Refused
from hermes_core.testing import Fail

BODY = {"model": "hermes", "messages": [{"role": "user", "content": "Hi."}]}
KEY = {"idempotency-key": "once-1"}


async def test_a_repeat_gets_the_first_answer(serve: Any, scripted: Any) -> None:
    async with serve(scripted("One.", "Two.")) as server, server.http() as http:
        first = await http.post("/v1/chat/completions", json=BODY, headers=KEY)
        again = await http.post("/v1/chat/completions", json=BODY, headers=KEY)
        other = await http.post("/v1/chat/completions", json=BODY, headers={"idempotency-key": "once-2"})
        streamed = await http.post("/v1/chat/completions", json={**BODY, "stream": True}, headers=KEY)
    said = [answer.json()["choices"][0]["message"]["content"] for answer in (first, again, other)]
    assert said == ["One.", "One.", "Two."]
    assert first.json()["id"] == again.json()["id"]
    assert first.json()["usage"] == again.json()["usage"]
    assert "One." in streamed.text


async def test_a_key_that_came_with_another_request_is_refused(serve: Any, scripted: Any) -> None:
    changed = {"model": "hermes", "messages": [{"role": "user", "content": "Ho."}]}
    async with serve(scripted("One.")) as server, server.http() as http:
        first = await http.post("/v1/chat/completions", json=BODY, headers=KEY)
        other = [
            await http.post("/v1/chat/completions", json=changed, headers=KEY),
            await http.post("/v1/runs", json={"input": "Hi."}, headers=KEY),
        ]
        again = await http.post("/v1/chat/completions", json=BODY, headers=KEY)
    await server.bench.close()
    async with server.again() as server, server.http() as http:
        other.append(await http.post("/v1/chat/completions", json=changed, headers=KEY))
    for answer in other:
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "idempotency_key_reused")
    assert first.json()["choices"] == again.json()["choices"]


async def test_two_at_once_are_one_turn(serve: Any, scripted: Any) -> None:
    async with serve(scripted("One.")) as server, server.http() as http:
        answers = await asyncio.gather(*(http.post("/v1/chat/completions", json=BODY, headers=KEY) for _ in range(5)))
    assert {answer.json()["choices"][0]["message"]["content"] for answer in answers} == {"One."}


async def test_a_repeat_after_a_restart_gets_the_first_answer(serve: Any, scripted: Any) -> None:
    async with serve(scripted("One.")) as server, server.http() as http:
        first = await http.post("/v1/responses", json={"model": "hermes", "input": "Hi."}, headers=KEY)
    await server.bench.close()  # what it knew is on disk only
    async with server.again() as server, server.http() as http:
        again = await http.post("/v1/responses", json={"model": "hermes", "input": "Hi."}, headers=KEY)
        read = await http.get(f"/v1/responses/{first.json()['id']}")
    assert again.json()["id"] == first.json()["id"]
    assert again.json()["output"] == read.json()["output"] == first.json()["output"]


async def test_a_client_that_left_finds_its_answer(serve: Any, scripted: Any) -> None:
    go, model = asyncio.Event(), scripted("One.")
    stream = model.stream

    async def held(request: Any) -> Any:
        await go.wait()
        async for delta in stream(request):
            yield delta

    model.stream = held
    async with serve(model) as server, server.http() as http:
        left = asyncio.create_task(http.post("/v1/chat/completions", json=BODY, headers=KEY))
        await server.until(lambda: server.running)
        left.cancel()
        await asyncio.wait({left})
        await asyncio.sleep(0.1)
        go.set()
        again = await http.post("/v1/chat/completions", json=BODY, headers=KEY)
    assert again.json()["choices"][0]["message"]["content"] == "One."


async def test_what_failed_is_not_done_again(serve: Any, scripted: Any) -> None:
    async with serve(scripted(Fail(Refused("No.")))) as server, server.http() as http:
        first = await http.post("/v1/chat/completions", json=BODY, headers=KEY)
        again = await http.post("/v1/chat/completions", json=BODY, headers=KEY)
    assert first.status_code == 502
    assert again.status_code >= 500
    assert "No." in again.json()["error"]["message"]


async def test_the_same_key_of_two_people_are_two(serve: Any, scripted: Any) -> None:
    model = scripted("Mine.", "Hers.")
    async with serve(model) as server, server.http() as http, server.http("alices-key-0123456789") as her:
        mine = await http.post("/v1/chat/completions", json=BODY, headers=KEY)
        hers = await her.post("/v1/chat/completions", json=BODY, headers=KEY)
    assert [a.json()["choices"][0]["message"]["content"] for a in (mine, hers)] == ["Mine.", "Hers."]
