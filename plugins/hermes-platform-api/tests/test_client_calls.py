"""Tools of the client in the Responses API."""

import json
from typing import Any

import openai
import pytest

from hermes_core.testing import Call

TOOL: dict[str, Any] = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    "strict": False,
}
CALL = Call("client_get_weather", {"city": "Ulm"})
ASK: dict[str, Any] = {"model": "hermes", "tools": [TOOL]}


def output(call: Any, text: str = "Rain.") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call.call_id, "output": text}


async def test_a_response_ends_with_a_call_and_the_next_goes_on(serve: Any, scripted: Any) -> None:
    model = scripted(CALL, "Wet.", "Bye.")
    async with serve(model) as server, server.client() as client:
        first = await client.responses.create(**ASK, input="Weather?")
        [call] = first.output
        assert (first.status, call.type, call.name, call.status) == (
            "completed",
            "function_call",
            "get_weather",
            "completed",
        )
        assert json.loads(call.arguments) == {"city": "Ulm"}
        assert first.tools[0].name == "get_weather"
        with pytest.raises(openai.BadRequestError, match=f"No tool output found for function call {call.call_id}"):
            await client.responses.create(**ASK, input="Well?", previous_response_id=first.id)
        last = await client.responses.create(**ASK, input=[output(call)], previous_response_id=first.id)
        assert (last.output_text, last.previous_response_id) == ("Wet.", first.id)
        assert first.conversation == last.conversation
        assert last.usage.output_tokens == 1  # each counts its own
        assert await client.responses.retrieve(first.id) == first
        assert (await client.responses.retrieve(last.id)).output_text == "Wet."
        asked = [item async for item in client.responses.input_items.list(first.id)]
        given = [item async for item in client.responses.input_items.list(last.id)]
        assert [asked[0].content[0].text, given[0].output] == ["Weather?", "Rain."]
        third = await client.responses.create(model="hermes", input="Bye.", previous_response_id=last.id)
        assert third.conversation == first.conversation
        await client.responses.delete(last.id)
        with pytest.raises(openai.NotFoundError):
            await client.responses.retrieve(last.id)
        [said] = [item async for item in client.responses.input_items.list(third.id)]
        assert said.content[0].text == "Bye."


async def test_a_client_that_keeps_the_conversation_itself_goes_on_too(serve: Any, scripted: Any) -> None:
    model = scripted(CALL, "Wet.")
    async with serve(model) as server, server.client() as client:
        items: list[Any] = [{"role": "user", "content": "Weather?"}]
        first = await client.responses.create(**ASK, input=items, store=False)
        items += [
            {"type": "reasoning", "id": "rs_1", "summary": []},
            first.output[0].model_dump(),
            output(first.output[0]),
        ]
        last = await client.responses.create(**ASK, input=items, store=False)
        assert last.output_text == "Wet."
        assert len(await server.ctx.sessions.rows(server.ctx.owner)) == 1
        with pytest.raises(openai.NotFoundError):
            await client.responses.retrieve(last.id)


async def test_the_events_of_a_call_come_in_their_order(serve: Any, scripted: Any) -> None:
    async with serve(scripted(CALL, "Wet.")) as server, server.client() as client:
        first = [event async for event in await client.responses.create(**ASK, input="Weather?", stream=True)]
        call = first[-1].response.output[0]
        more = {"input": [output(call)], "previous_response_id": first[-1].response.id}
        last = [event async for event in await client.responses.create(**ASK, **more, stream=True)]
    assert [event.type for event in first] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert [event.sequence_number for event in first] == list(range(7))
    assert (first[2].item.arguments, first[2].item.status) == ("", "in_progress")
    assert first[3].delta == first[4].arguments == first[5].item.arguments == '{"city": "Ulm"}'
    assert {e.output_index for e in first[2:6]} == {0}
    assert [event.type for event in last[:2]] == ["response.created", "response.in_progress"]
    assert last[-1].response.output_text == "Wet."
    assert [event.sequence_number for event in last] == list(range(len(last)))


async def test_results_that_come_too_late_are_heard_in_the_same_session(serve: Any, scripted: Any) -> None:
    model = scripted(CALL, "Wet.")
    async with serve(model, {"platforms.api.client_tool_seconds": 1}) as server, server.client() as client:
        first = await client.responses.create(**ASK, input="Weather?")

        async def idle() -> bool:
            return (await server.ctx.sessions.rows(server.ctx.owner))[0].state == "idle"

        await server.until(idle)
        last = await client.responses.create(**ASK, input=[output(first.output[0])], previous_response_id=first.id)
        assert last.output_text == "Wet."
        assert last.conversation == first.conversation
    assert "Rain." in str(model.requests[1].messages[-1])
    assert model.requests[1].messages[-1].untrusted
