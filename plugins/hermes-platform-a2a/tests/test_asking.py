"""Tasks that ask, are stopped, wait, or are too many: what a client sees of them, and what it can do."""

import asyncio
import json

import pytest
from a2a.client.errors import A2AClientError
from a2a.types import CancelTaskRequest, GetTaskRequest, SubscribeToTaskRequest, TaskState
from a2a.utils.errors import A2AError

from hermes_core.hooks import hookimpl
from hermes_core.kinds import tool
from hermes_core.testing import Call
from hermes_core.types import Blob, Effect, Message, Text, ToolResult
from hermes_platform_a2a.content import row_of, task_of
from hermes_platform_a2a.rows import Rows

from .conftest import answer_of, said, sent

ASKS, DONE, CANCELED = (
    TaskState.TASK_STATE_INPUT_REQUIRED,
    TaskState.TASK_STATE_COMPLETED,
    TaskState.TASK_STATE_CANCELED,
)


def clarifies(question="Which town?"):
    return Call("clarify", {"question": question, "choices": ["Oslo", "Rome"]})


async def test_a_question_is_put_to_the_client_and_its_answer_is_heard_once(home, scripted):
    model = scripted(clarifies(), "Rome it is.")
    async with home(model, {}, "hermes_tool_clarify") as there, there.client(streaming=True) as client:
        task = None
        async for event in client.send_message(said("Book it.")):
            task = event.task if event.HasField("task") else task
            state = event.status_update.status.state if event.HasField("status_update") else None
        assert state == ASKS
        asked = await client.get_task(GetTaskRequest(id=task.id))
        assert asked.status.state == ASKS
        assert "Which town?" in asked.status.message.parts[0].text
        with pytest.raises((A2AError, A2AClientError), match="another context_id"):
            await sent(client, said("2", "m2", task_id=task.id, context_id="other"))
        async for event in client.send_message(said("2", "m2", task_id=task.id)):
            last = event
        assert last.status_update.status.state == DONE
        over = await client.get_task(GetTaskRequest(id=task.id))
        assert answer_of(over) == "Rome it is."
        assert [one.parts[0].text.splitlines()[0] for one in over.history] == ["Book it.", "Which town?", "2"]
        async for event in client.send_message(said("2", "m2", task_id=task.id)):
            assert event.task.status.state == DONE
        told = json.dumps([str(part) for one in model.requests[-1].messages for part in one.parts])
        assert "The person chose: Rome" in told


@tool(name="mail", toolset="mail", effects=[Effect.SEND])
async def mail() -> str:
    """Send a mail."""
    return "It was sent."


@pytest.mark.parametrize(
    ("approvals", "answer", "runs"), [(False, "", False), (True, "yes", True), (True, "rather not", False)]
)
async def test_what_needs_a_yes_is_refused_unless_the_client_may_say_it(home, scripted, approvals, answer, runs):
    model = scripted(Call("mail", {}), "Over.")
    async with home(model, {"platforms.a2a.approvals": approvals}, mail) as there, there.client() as client:
        task = await sent(client, said("Mail it."))
        if answer:
            assert task.status.state == ASKS
            assert "always" not in task.status.message.parts[0].text
            task = await sent(client, said(answer, "m2", task_id=task.id))
        assert task.status.state == DONE
        [result] = [p for one in model.requests[-1].messages for p in one.parts if isinstance(p, ToolResult)]
        assert (not result.failed) == runs


async def test_a_task_is_watched_and_canceled_and_nothing_of_it_goes_on(home, scripted):
    model = scripted(clarifies())
    async with home(model, {}, "hermes_tool_clarify") as there, there.client(streaming=True) as client:
        began, *_ = [event async for event in client.send_message(said("Book it."))]
        task = began.task
        watching = client.subscribe(SubscribeToTaskRequest(id=task.id))
        assert (await anext(watching)).task.status.state == ASKS
        assert (await client.cancel_task(CancelTaskRequest(id=task.id))).status.state == CANCELED
        assert [one.status_update.status.state async for one in watching] == [CANCELED]
        assert (await there.ctx.turns.past(task.id)).state == "interrupted"
        with pytest.raises((A2AError, A2AClientError)):
            await sent(client, said("Rome", "m2", task_id=task.id))


async def test_what_another_process_ended_is_ended_here(home, scripted):
    async with home(scripted(clarifies()), {}, "hermes_tool_clarify") as there, there.client() as client:
        task = await sent(client, said("Book it."))
        rows = Rows(there.ctx.store)
        row = await rows.get("owner", task.id)
        over = task_of(row)
        over.status.state = CANCELED
        await rows.save(row_of(over, "owner"))
        for _ in range(2):
            assert (await client.get_task(GetTaskRequest(id=task.id))).status.state == CANCELED
        async with asyncio.timeout(20):
            while (await there.ctx.turns.past(task.id)).state == "open":
                await asyncio.sleep(0.01)
        assert (await there.ctx.turns.past(task.id)).state == "interrupted"


async def test_who_waits_for_an_answer_keeps_nobody_from_running_and_too_many_are_refused(home, scripted):
    settings = {"platforms.a2a.running": 1, "platforms.a2a.open_tasks": 2}
    model = scripted(clarifies(), "Quick.", clarifies())
    async with home(model, settings, "hermes_tool_clarify") as there, there.client() as client:
        asks = await sent(client, said("Book it."))
        assert answer_of(await sent(client, said("Hello.", "m2"))) == "Quick."
        await sent(client, said("Book it.", "m3"))
        with pytest.raises((A2AError, A2AClientError), match="2 tasks are open"):
            await sent(client, said("Book it.", "m4"))
        await client.cancel_task(CancelTaskRequest(id=asks.id))


async def test_files_are_artifacts_and_no_secret_goes_out(home, scripted, monkeypatch):
    monkeypatch.setenv("OTHER_API_KEY", "sk-very-secret-0123456789")

    @hookimpl
    async def transform_outgoing(message):
        picture = Blob(media_type="image/png", data=b"\x89PNG", name="chart.png")
        return Message(role="assistant", parts=(*message.parts, picture))

    model = scripted("The key is sk-very-secret-0123456789, really.")
    async with home(model, {}, transform_outgoing) as there, there.client(streaming=True) as client:
        events = [event async for event in client.send_message(said("Draw."))]
        task = await client.get_task(GetTaskRequest(id=events[0].task.id))
        assert "sk-very-secret" not in str(events) + str(task)
        [picture] = [one for one in task.artifacts if one.artifact_id != "answer"]
        assert (picture.parts[0].raw, picture.parts[0].filename) == (b"\x89PNG", "chart.png")


async def test_what_a_client_says_is_from_outside_and_within_the_bounds_that_are_set(home, scripted):
    model = scripted("Hello.")
    async with home(model, {"platforms.a2a.tools": ["mail"]}, mail) as there, there.client() as client:
        await sent(client, said("Hi."))
        asked = model.requests[-1]
        heard = next(one for one in asked.messages if one.role == "user")
        assert heard.untrusted
        assert any(isinstance(part, Text) and part.quotes for part in heard.parts)
        assert [one.name for one in asked.tools] == ["mail"]


async def test_tasks_of_one_conversation_come_one_after_the_other(home, scripted):
    async with home(scripted("1", "2", "3")) as there, there.client() as client:
        tasks = await asyncio.gather(*(sent(client, said(f"q{n}", f"m{n}", context_id="c")) for n in range(3)))
        assert sorted(answer_of(one) for one in tasks) == ["1", "2", "3"]
        assert {one.context_id for one in tasks} == {"c"}
