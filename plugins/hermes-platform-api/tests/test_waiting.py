"""Turns that have to wait: behind another one in their session, for a process that died, for one that was faster."""

import asyncio
import contextlib
from typing import Any

import pytest

from hermes_core import hookimpl
from hermes_core.types import Ended, Message, Text, TurnOrder
from hermes_platform_api.errors import ApiError
from hermes_platform_api.turn_request import TurnRequest
from hermes_platform_api.turns import Turns


def wanted(text: str, event: str, **more: Any) -> TurnRequest:
    message = Message(role="user", parts=(Text(text=text),))
    return TurnRequest(person="", event=event * 32, message=message, **more)


def held(model: Any) -> asyncio.Event:
    """Let the model answer when the event is set."""
    go, stream = asyncio.Event(), model.stream

    async def waits(request: Any) -> Any:
        await go.wait()
        async for delta in stream(request):
            yield delta

    model.stream = waits
    return go


async def answer(turns: Turns, wanted: TurnRequest) -> str:
    async with contextlib.aclosing(turns.play(wanted)) as turn:
        events = [event async for event in turn]
    assert isinstance(events[-1], Ended)
    return events[-1].answer


async def texts(server: Any, session: str) -> list[str]:
    rows = await server.ctx.sessions.read(server.ctx.owner, session)
    return ["".join(part.text for part in message.parts) for _, message in rows]


async def test_turns_of_one_session_are_played_one_after_another(serve: Any, scripted: Any) -> None:
    async with serve(scripted("One.", "Two.")) as server:
        turns = Turns(server.ctx, 10)
        requests = (wanted("a", "a", session="s"), wanted("b", "b", session="s"))
        said = await asyncio.gather(*(answer(turns, one) for one in requests))
        assert sorted(said) == ["One.", "Two."]
        assert len(await texts(server, "s")) == 4


async def test_a_client_that_leaves_before_its_turn_leaves_nothing(serve: Any, scripted: Any) -> None:
    model = scripted("One.")
    async with serve(model) as server:
        go, turns = held(model), Turns(server.ctx, 10)
        first = asyncio.create_task(answer(turns, wanted("a", "a", session="s")))
        await server.until(lambda: turns.busy("s"))
        second = asyncio.create_task(answer(turns, wanted("never", "b", session="s")))

        async def waits() -> bool:
            past = await server.ctx.turns.past("b" * 32)
            return past is not None and past.state == "waiting"

        await server.until(waits)
        second.cancel()
        await asyncio.wait({second})
        assert await server.ctx.turns.past("b" * 32) is None
        go.set()
        assert await first == "One."
        assert await server.ctx.turns.interrupted() == []
        assert await texts(server, "s") == ["a", "One."]


async def test_what_a_dead_process_left_waiting_is_played_when_it_is_asked_for_again(serve: Any, scripted: Any) -> None:
    async with serve(scripted("Before.", "One.")) as server:
        for text, event in (("another", "x"), ("a", "a")):
            await server.ctx.turns.queue(text, order=TurnOrder(session="s", event=event * 32))
        assert await answer(Turns(server.ctx, 10), wanted("a", "a", session="s", key="a" * 32)) == "One."
        assert await texts(server, "s") == ["another", "Before.", "a", "One."]


async def test_what_another_process_plays_first_is_answered_all_the_same(serve: Any, scripted: Any) -> None:
    async with serve(scripted("One.")) as server:
        run = server.ctx.turns.run

        async def late(message: Any, **given: Any) -> Any:
            """Ordered here, played elsewhere: what is left here is nothing."""
            async for _ in run(message, **given):
                pass
            for event in ():
                yield event

        server.ctx.turns.run = late
        assert await answer(Turns(server.ctx, 10), wanted("a", "a")) == "One."


async def test_what_a_plugin_orders_in_a_session_that_rests_is_played(
    serve: Any, scripted: Any, hermes: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr("hermes_platform_api.going_on._LOOK", 0.1)
    known: list[Any] = []

    @hookimpl
    async def on_session_start(ctx: Any) -> None:
        known.append(ctx.turns)

    declared = {"hooks": {"use": ["on_session_start"]}, "permissions": {"kernel": ["turns.run"]}}
    hermes.tmp_plugin(on_session_start, name="clock", manifest=declared)
    async with serve(scripted("One.", "Noon, then.", "Two.")) as server:
        client = server.client()
        first = await client.responses.create(model="hermes", input="a")
        session = await server.ctx.sessions.find(server.ctx.owner, "latest")
        for _ in range(2):
            await known[0].queue("it is noon", order=TurnOrder(session=session.id, event="noon"))

        async def played() -> bool:
            return len(await texts(server, session.id)) == 4

        await server.until(played)
        assert await texts(server, session.id) == ["a", "One.", "it is noon", "Noon, then."]
        await client.responses.create(model="hermes", input="b", previous_response_id=first.id)


async def test_a_turn_that_cannot_begin_says_why_in_the_shape_of_one_that_failed(serve: Any, scripted: Any) -> None:
    async with serve(scripted()) as server:
        with pytest.raises(ApiError) as caught:
            await answer(Turns(server.ctx, 10), wanted("a", "a", session="../etc"))
        assert (caught.value.status, caught.value.code) == (400, "bad_request")
        assert caught.value.headers["x-should-retry"] == "false"
        assert await server.ctx.turns.past("a" * 32) is None
