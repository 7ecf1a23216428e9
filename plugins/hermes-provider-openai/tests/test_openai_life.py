"""A provider over its life: retried fields, kept connections, cancelled streams, models, readiness."""

import asyncio
import json
import socket

import pytest

from hermes_core.errors import AuthError, Unavailable
from hermes_core.types import Endpoint, Feature, TextDelta
from hermes_provider_openai.setup import all_steps

EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n'
END = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"


async def test_a_server_that_refuses_stream_options_is_asked_again_without(service, at, ask, reply):
    refusal = reply.http(400, '{"error": {"message": "Unrecognized request argument: stream_options"}}')
    service.script = [refusal]
    service.always = reply.sse(EVENT + END)
    provider = at()
    assert (await ask(provider)).text == "a"
    assert (await ask(provider)).text == "a"
    assert ["stream_options" in asked.body for asked in service.asked] == [True, False, False]


async def test_other_refusals_are_not_asked_again(service, at, ask, reply):
    service.always = reply.http(500, "{}")
    with pytest.raises(Unavailable):
        await ask(at())
    assert len(service.asked) == 1


async def test_one_connection_serves_many_calls(service, at, ask, reply):
    service.always = reply.sse(EVENT + END)
    provider = at()
    for _ in range(3):
        await ask(provider)
    assert service.connections == 1
    await provider.close()
    await ask(provider)
    assert service.connections == 2


async def test_a_reply_is_over_at_done_though_the_server_hangs_on(service, at, ask):
    async def hang(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + EVENT + END)
        await writer.drain()
        await asyncio.Event().wait()

    service.always = hang
    assert (await ask(at())).text == "a"


async def test_a_connection_lost_after_the_finish_loses_nothing(service, at, ask):
    async def lose(writer: asyncio.StreamWriter) -> None:
        writer.write(
            HEAD.replace(b"\r\n\r\n", b"\r\ncontent-length: 9999\r\n\r\n") + EVENT + END[: END.index(b"\n\n") + 2]
        )

    service.always = lose
    assert (await ask(at())).done[0].reason == "stop"


async def test_a_cancelled_stream_leaves_the_provider_usable(service, at, ask, hello, reply):
    begun = asyncio.Event()

    async def slow(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + EVENT)
        await writer.drain()
        await asyncio.Event().wait()

    provider = at()

    async def read() -> None:
        async for delta in provider.stream(hello):
            if isinstance(delta, TextDelta):
                begun.set()

    service.script = [slow]
    service.always = reply.sse(EVENT + END)
    task = asyncio.create_task(read())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await ask(provider)).text == "a"


def test_another_event_loop_gets_another_client(named, hello, reply):
    """A program that calls asyncio.run twice with one provider is served twice."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    provider = named("custom").at(Endpoint(name="custom", base_url=f"http://127.0.0.1:{port}/v1"))

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(reply.sse(EVENT + END))
        await writer.drain()
        writer.close()

    async def once() -> str:
        server = await asyncio.start_server(handle, "127.0.0.1", port)
        async with asyncio.timeout(10):
            texts = [d.text async for d in provider.stream(hello) if isinstance(d, TextDelta)]
        server.close()
        return "".join(texts)

    assert [asyncio.run(once()), asyncio.run(once())] == ["a", "a"]


async def test_models_come_with_what_the_service_says_about_them(service, at, reply):
    rows = [
        {"id": "b", "context_length": 1000, "top_provider": {"max_completion_tokens": 10}},
        {"id": "c", "meta": {"n_ctx_train": 4096}},
        {"id": "a", "supported_parameters": ["reasoning"], "architecture": {"input_modalities": ["text", "image"]}},
        {"id": "b"},
        {"no": "name"},
    ]
    for body in ({"object": "list", "data": rows}, {"models": rows}, rows):
        service.always = reply.http(200, json.dumps(body))
        models = {m.name: m for m in await at().models()}
        assert list(models) == ["b", "c", "a"]
        assert (models["b"].context, models["b"].output, models["c"].context) == (1000, 10, 4096)
        assert models["a"].features == {Feature.REASONING, Feature.IMAGES}
    assert (await at(context=77).models())[0].context == 77


async def test_the_default_model_comes_first(service, at, named, reply):
    service.always = reply.http(200, json.dumps({"data": [{"id": "x"}, {"id": "deepseek-chat"}]}))
    assert [m.name for m in await at("deepseek").models()] == ["deepseek-chat", "x"]
    assert named("deepseek").default_model == "deepseek-chat"


async def test_the_catalogue_stands_in_for_a_list_that_cannot_be_had(service, at, reply):
    service.always = reply.http(500, "{}")
    assert "deepseek-reasoner" in [m.name for m in await at("deepseek").models()]
    with pytest.raises(Unavailable):
        await at("custom").models()
    service.always = reply.http(401, "{}")
    with pytest.raises(AuthError):
        await at("deepseek").models()
    service.always = reply.http(200, "<html><title>Portal</title></html>")
    with pytest.raises(Unavailable, match="Portal"):
        await at("custom").models()


async def test_a_request_without_a_model_takes_the_first_on_offer(service, at, ask, hello, reply):
    from attrs import evolve

    service.by_path["/v1/models"] = reply.http(200, '{"data": [{"id": "only"}]}')
    service.always = reply.sse(EVENT + END)
    await ask(at(), evolve(hello, model=""))
    assert service.asked[-1].body["model"] == "only"


async def test_a_hosted_service_is_ready_when_its_key_is_set(named):
    assert not await named("openrouter").ready()
    assert await named("openrouter", OPENROUTER_API_KEY="k").ready()
    assert await named("zai", Z_AI_API_KEY="k").ready()
    assert not await named("or", OPENROUTER_API_KEY="k").ready(), "an alias never takes part in the choice"
    assert not await named("custom", CUSTOM_API_KEY="k").ready()


async def test_a_local_service_is_ready_when_it_lists_models(service, named, reply):
    service.by_path["/v1/models"] = reply.http(200, '{"object":"list","data":[]}')
    assert await named("lmstudio", LM_BASE_URL=service.url).ready()
    service.by_path["/v1/models"] = reply.http(200, "<html>")
    assert not await named("lmstudio", LM_BASE_URL=service.url).ready()

    async def silent(writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    service.by_path["/v1/models"] = silent
    assert not await named("lmstudio", LM_BASE_URL=service.url).ready()
    assert not await named("lmstudio", LM_BASE_URL="http://127.0.0.1:1/v1").ready()


async def test_few_connections_rest_where_a_new_one_costs_little(service, at, ask):
    all_here = asyncio.Barrier(30)

    async def together(writer: asyncio.StreamWriter) -> bool:
        await all_here.wait()
        body = EVENT + END
        writer.write(HEAD.replace(b"\r\n\r\n", b"\r\ncontent-length: %d\r\n\r\n" % len(body)) + body)
        await writer.drain()
        return True

    service.always = together
    provider = at()
    for connections in (30, 40):
        await asyncio.gather(*(ask(provider) for _ in range(30)))
        assert service.connections == connections


async def test_a_key_is_checked_by_asking_the_service_itself(service, reply, keys):
    """What the catalogue knows would be no test: nobody was asked."""

    def step(name, **said):
        endpoint = Endpoint(name=name, base_url=service.url, **said)
        return next(one for one in all_steps(keys(), {name: endpoint}) if one.name == name)

    service.by_path["/v1/models"] = reply.http(200, '{"data": [{"id": "a"}, {"id": "b"}]}')
    assert await step("openai").test({"key": "sk-good-1234567890"}) == "openai has 2 models."
    assert [field.name for field in step("openai").fields] == ["key"]
    assert [field.required for field in step("openai", api_key="k").fields] == [False]
    assert [(field.name, field.required) for field in step("vllm").fields] == [("base_url", False), ("key", False)]
    with pytest.raises(AuthError):
        await step("openai").test({})
    service.by_path["/v1/models"] = reply.http(500, "{}")
    with pytest.raises(Unavailable):
        await step("openai").test({"key": "sk-good-1234567890"})
