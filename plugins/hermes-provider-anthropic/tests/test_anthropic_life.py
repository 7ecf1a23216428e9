"""A provider over its life: kept connections, cancelled streams, readiness, models."""

import asyncio
import json

import pytest

from hermes_core.errors import AuthError, Unavailable
from hermes_core.types import Endpoint, Feature, Message, Request, Text, TextDelta
from hermes_provider_anthropic.provider import all_providers

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"


@pytest.fixture
def short(reply):
    return reply.sse(reply.begin(), *reply.text(0, "a"), *reply.finish())


async def test_one_connection_serves_many_calls(service, at, ask, short):
    service.always = short
    provider = at()
    for _ in range(3):
        assert (await ask(provider)).text == "a"
    assert service.connections == 1
    await provider.close()
    await ask(provider)
    assert service.connections == 2


async def test_a_reply_is_over_at_its_last_event_though_the_server_hangs_on(service, at, ask, reply):
    async def hang(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + reply.events(reply.begin(), *reply.text(0, "a"), *reply.finish()).encode())
        await writer.drain()
        await asyncio.Event().wait()

    service.always = hang
    assert (await ask(at())).text == "a"


async def test_a_connection_lost_after_the_finish_loses_nothing(service, at, ask, reply):
    async def lose(writer: asyncio.StreamWriter) -> None:
        head = HEAD.replace(b"\r\n\r\n", b"\r\ncontent-length: 9999\r\n\r\n")
        writer.write(head + reply.events(reply.begin(), *reply.text(0, "a"), reply.finish()[0]).encode())

    service.always = lose
    assert (await ask(at())).done[0].reason == "stop"


async def test_a_cancelled_stream_leaves_the_provider_usable(service, at, ask, hello, reply, short):
    begun = asyncio.Event()

    async def slow(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + reply.events(reply.begin(), *reply.text(0, "a")).encode())
        await writer.drain()
        await asyncio.Event().wait()

    provider = at()

    async def read() -> None:
        async for delta in provider.stream(hello):
            if isinstance(delta, TextDelta):
                begun.set()

    service.script = [slow]
    service.always = short
    task = asyncio.create_task(read())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await ask(provider)).text == "a"


def test_another_event_loop_gets_another_client(named, hello, short):
    """A program that calls asyncio.run twice with one provider is served twice."""
    providers = []

    async def once() -> str:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(short)
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", port[0])
        port[0] = server.sockets[0].getsockname()[1]
        if not providers:
            providers.append(named().at(Endpoint(name="anthropic", base_url=f"http://127.0.0.1:{port[0]}")))
        text = "".join([d.text async for d in providers[0].stream(hello) if isinstance(d, TextDelta)])
        server.close()
        return text

    port = [0]
    assert [asyncio.run(once()), asyncio.run(once())] == ["a", "a"]


async def test_it_is_ready_when_its_key_is_set(named):
    assert await named(ANTHROPIC_API_KEY="k").ready()
    assert not await named().ready()
    assert not await named("claude", ANTHROPIC_API_KEY="k").ready(), "an alias would be chosen twice"
    assert not await named("minimax", ANTHROPIC_API_KEY="k").ready()
    assert await named("minimax-cn", MINIMAX_CN_API_KEY="k").ready()
    assert await named().at(Endpoint(name="anthropic", api_key="k")).ready()
    assert (named().priority, named("claude").priority) == (10, 99)


async def test_what_the_user_set_for_a_service_holds_for_its_aliases(service, ask, keys, short):
    service.always = short
    endpoints = {"anthropic": Endpoint(name="anthropic", base_url=service.url)}
    claude = next(p for p in all_providers(keys(), endpoints) if p.name == "claude")
    assert (await ask(claude)).text == "a"
    await claude.close()


async def test_models_are_those_the_service_lists_with_what_is_known_of_them(service, at, reply):
    yes, no = {"supported": True}, {"supported": False}
    rows = [
        {
            "id": "claude-new",
            "max_input_tokens": 7,
            "max_tokens": 5,
            "capabilities": {"image_input": no, "thinking": yes},
        },
        {"id": "claude-haiku-5-5"},
        {"id": "claude-haiku-5-5"},
        {"id": 7},
        "odd",
        {"id": "claude-sonnet-5-5"},
    ]
    service.always = reply.http(200, json.dumps({"data": rows, "has_more": False}))
    models = await at().models()
    assert [m.name for m in models] == ["claude-sonnet-5-5", "claude-new", "claude-haiku-5-5"]
    assert (models[1].context, models[1].output) == (7, 5)
    assert models[1].features == {Feature.TOOLS, Feature.REASONING}
    assert (models[2].context, models[2].output) == (1_000_000, 128_000)
    assert {m.context for m in await at(context=99).models()} == {99}
    assert service.asked[0].path == "/v1/models?limit=1000"


async def test_without_an_answer_the_catalogue_says_what_its_own_service_has(named, at, service, reply, monkeypatch):
    provider = named(ANTHROPIC_API_KEY="k")
    line = provider._line()
    service.always = reply.http(500, "{}")
    object.__setattr__(line, "service", at()._line().service)  # its own service, as far as it knows
    names = [model.name for model in await provider.models()]
    assert names[0] == "claude-sonnet-5-5"
    assert not [name for name in names if name.endswith("*")]
    await provider.close()
    with pytest.raises(Unavailable):
        await at().models()
    service.always = reply.http(401, "{}")
    with pytest.raises(AuthError):
        await provider.models()
    await provider.close()


async def test_a_request_without_a_model_takes_what_the_service_lists_first(service, at, ask, reply, short):
    service.by_path["/v1/models"] = reply.http(200, '{"data": [{"id": "one"}, {"id": "two"}]}')
    service.always = short
    provider = at()
    request = Request(model="", messages=(Message(role="user", parts=(Text(text="a"),)),))
    await ask(provider, request)
    await ask(provider, request)
    assert [asked.path for asked in service.asked] == ["/v1/models?limit=1000", "/v1/messages", "/v1/messages"]
    assert service.asked[-1].body["model"] == "one"
