"""The Responses API, as OpenAI's own client sees it."""

from typing import Any

import openai
import pytest

from hermes_core.errors import Refused
from hermes_core.kinds import tool
from hermes_core.testing import Call, Fail

ASK = {"model": "hermes", "input": "Hi."}


@tool(toolset="t")
async def now() -> str:
    """The time."""
    return "noon"


async def test_the_official_client_gets_a_response(serve: Any, scripted: Any) -> None:
    async with serve(scripted("Hello there.")) as server, server.client() as client:
        made = await client.responses.create(**ASK, metadata={"a": "b"})
        again = await client.responses.retrieve(made.id)
    assert made.output_text == again.output_text == "Hello there."
    assert made.status == again.status == "completed"
    assert made.metadata == {"a": "b"}
    assert (made.usage.input_tokens, made.usage.output_tokens) == (10, 2)
    assert again.usage.total_tokens == 12


async def test_the_official_client_reads_the_events(serve: Any, scripted: Any) -> None:
    model = scripted(Call("now"), "It is noon.")
    async with serve(model, {"toolsets": ["t"]}, now) as server, server.client() as client:
        include: Any = ["hermes.tool.progress"]
        events = [event async for event in await client.responses.create(**ASK, stream=True, include=include)]
    kinds = [event.type for event in events]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds[2:4] == ["hermes.tool.progress"] * 2
    assert kinds[4:6] == ["response.output_item.added", "response.content_part.added"]
    assert set(kinds[6:-4]) == {"response.output_text.delta"}
    assert kinds[-4:] == [
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert events[-1].response.output_text == "It is noon."
    assert events[-1].response.usage.output_tokens > 0


async def test_the_clients_own_helper_puts_the_stream_together(serve: Any, scripted: Any) -> None:
    async with (
        serve(scripted("One two three.")) as server,
        server.client() as client,
        client.responses.stream(**ASK) as stream,
    ):
        whole = await stream.get_final_response()
    assert whole.output_text == "One two three."


async def test_a_response_goes_on_where_another_ended(serve: Any, scripted: Any) -> None:
    model = scripted("One.", "Two.", "Branch.")
    async with serve(model) as server, server.client() as client:
        first = await client.responses.create(**ASK)
        second = await client.responses.create(model="hermes", input="b", previous_response_id=first.id)
        third = await client.responses.create(model="hermes", input="c", previous_response_id=first.id)
    assert second.previous_response_id == first.id
    said = [["".join(p.text for p in m.parts) for m in r.messages[1:]] for r in model.requests]
    assert said == [["Hi."], ["Hi.", "One.", "b"], ["Hi.", "One.", "c"]]
    assert first.conversation.id == second.conversation.id != third.conversation.id


async def test_a_conversation_is_a_session_with_a_name(serve: Any, scripted: Any) -> None:
    model = scripted("One.", "Two.")
    async with serve(model) as server, server.client() as client:
        await client.responses.create(**ASK, conversation="holiday", instructions="Be kind.")
        await client.responses.create(**ASK, conversation="holiday")
        assert (await server.ctx.sessions.get(server.ctx.owner, "holiday")).origin == "api"
    assert len(model.requests[1].messages) == 4
    assert "Be kind." in model.requests[0].messages[0].parts[0].text


async def test_what_is_deleted_or_not_to_be_stored_is_not_found(serve: Any, scripted: Any) -> None:
    async with serve(scripted("One.", "Two.")) as server, server.client() as client:
        kept = await client.responses.create(**ASK)
        await client.responses.delete(kept.id)
        unkept = await client.responses.create(**ASK, store=False)
        for name in (kept.id, unkept.id, "resp_", "resp_nothing", "../x"):
            with pytest.raises(openai.NotFoundError):
                await client.responses.retrieve(name)
        with pytest.raises(openai.NotFoundError):
            await client.responses.create(**ASK, previous_response_id=unkept.id)


async def test_nobody_reads_anothers_response(serve: Any, scripted: Any) -> None:
    async with (
        serve(scripted("One.")) as server,
        server.client() as owner,
        server.client("alices-key-0123456789") as her,
    ):
        made = await owner.responses.create(**ASK)
        with pytest.raises(openai.NotFoundError):
            await her.responses.retrieve(made.id)
        with pytest.raises(openai.NotFoundError):
            await her.responses.create(**ASK, previous_response_id=made.id)
        with pytest.raises(openai.NotFoundError):
            await her.responses.delete(made.id)


async def test_a_model_that_fails_fails_the_response(serve: Any, scripted: Any) -> None:
    async with serve(scripted(Fail(Refused("No."), said="Well,"))) as server, server.client() as client:
        events = [event async for event in await client.responses.create(**ASK, stream=True)]
    assert events[-1].type == "response.failed"
    assert events[-1].response.error.message.startswith("No.")
    assert events[-1].response.status == "failed"
