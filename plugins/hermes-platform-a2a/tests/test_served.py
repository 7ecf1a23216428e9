"""The agent, asked by the SDK's own client over HTTP: both bindings, and all that a client may want of a task."""

import pytest
from a2a.client.errors import A2AClientError
from a2a.types import CancelTaskRequest, GetTaskRequest, ListTasksRequest, Part, SubscribeToTaskRequest, TaskState
from a2a.utils.errors import A2AError

from .conftest import ALICE, PATH, answer_of, said, sent

BOTH = pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])


@BOTH
async def test_a_message_is_a_task_that_is_answered_listed_and_got(home, scripted, binding):
    async with home(scripted("It is warm.", "Very.")) as there, there.client(binding=binding) as client:
        task = await sent(client, said("How is the weather?"))
        assert (task.status.state, answer_of(task)) == (TaskState.TASK_STATE_COMPLETED, "It is warm.")
        assert [one.parts[0].text for one in task.history] == ["How is the weather?"]
        got = await client.get_task(GetTaskRequest(id=task.id, history_length=0))
        assert (answer_of(got), len(got.history)) == ("It is warm.", 0)
        more = await sent(client, said("How warm?", "m2", context_id=task.context_id))
        assert (more.context_id, answer_of(more)) == (task.context_id, "Very.")
        listed = await client.list_tasks(ListTasksRequest(page_size=1))
        assert ([one.id for one in listed.tasks], listed.total_size) == ([more.id], 2)
        rest = await client.list_tasks(ListTasksRequest(page_size=1, page_token=listed.next_page_token))
        assert ([one.id for one in rest.tasks], rest.next_page_token) == ([task.id], "")
        assert not rest.tasks[0].artifacts
        of_state = ListTasksRequest(status=TaskState.TASK_STATE_WORKING, context_id=task.context_id)
        assert (await client.list_tasks(of_state)).total_size == 0
        sessions = await there.bench.context("hermes_platform_api").sessions.recent(there.ctx.owner)
        assert len(sessions) == 1


@BOTH
async def test_it_is_streamed_as_it_comes(home, scripted, binding):
    async with (
        home(scripted("One line.\nAnd another.")) as there,
        there.client(binding=binding, streaming=True) as client,
    ):
        events = [event async for event in client.send_message(said("Two lines."))]
        assert events[0].HasField("task")
        states = [one.status_update.status.state for one in events if one.HasField("status_update")]
        assert states == [TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_COMPLETED]
        text = ""
        for one in events:
            if one.HasField("artifact_update"):
                update = one.artifact_update
                text = (text if update.append else "") + update.artifact.parts[0].text
        assert text == "One line.\nAnd another."


async def test_what_comes_twice_is_done_once(home, scripted):
    async with home(scripted("Once.")) as there, there.client() as client:
        first = await sent(client, said("Do it."))
        assert await sent(client, said("Do it.")) == first
        with pytest.raises((A2AError, A2AClientError), match="another message"):
            await sent(client, said("Do something else."))
        assert (await client.list_tasks(ListTasksRequest())).total_size == 1


async def test_each_key_has_its_tasks_and_none_has_none(home, scripted):
    async with home(scripted("Mine.", "Hers.")) as there:
        async with there.client() as client:
            mine = await sent(client, said("Whose?"))
        async with there.client(ALICE) as alice:
            assert (await alice.list_tasks(ListTasksRequest())).total_size == 0
            for ask in (alice.get_task, alice.cancel_task):
                wanted = GetTaskRequest if ask == alice.get_task else CancelTaskRequest
                with pytest.raises((A2AError, A2AClientError), match="not found"):
                    await ask(wanted(id=mine.id))
            hers = await sent(alice, said("Whose?", context_id=mine.context_id))
            assert (hers.id != mine.id, answer_of(hers)) == (True, "Hers.")
        async with there.http("") as http:
            assert (await http.post(f"{PATH}/agent", json={})).status_code == 401
            for path in (f"{PATH}/card/.well-known/agent-card.json", "/.well-known/agent-card.json"):
                card = (await http.get(path)).json()
                assert card["supportedInterfaces"][0]["url"] == f"{there.url}{PATH}/agent"
            for path in (f"{PATH}/card/tasks", "/.well-known/agent-card.json/x", f"{PATH}/agent-card.json/x"):
                assert (await http.get(path)).status_code == 404


async def test_what_cannot_be_done_is_said_in_a_line(home, scripted):
    cases = {
        "fetched": said("", parts=[Part(url="http://127.0.0.1/x")]),
        "pictures": said("", parts=[Part(raw=b"%PDF", media_type="application/pdf")]),
        "says nothing": said(" "),
        "not found": said("x", task_id="nobody"),
        "at most": said("x", "m" * 300),
        "characters": said("x" * 300_000),
    }
    async with home(scripted("Done.")) as there, there.client() as client, there.client(streaming=True) as other:
        for words, request in cases.items():
            with pytest.raises((A2AError, A2AClientError), match=words):
                await sent(client, request)
        assert (await client.list_tasks(ListTasksRequest())).total_size == 0
        over = await sent(client, said("Do it."))
        for ask in (
            client.cancel_task(CancelTaskRequest(id=over.id)),
            sent(client, said("More.", "m2", task_id=over.id)),
            anext(other.subscribe(SubscribeToTaskRequest(id=over.id))),
            client.list_tasks(ListTasksRequest(page_token="WzEsMl0=")),
        ):
            with pytest.raises((A2AError, A2AClientError)):
                await ask


async def test_garbage_is_answered(home, scripted):
    deep = b'{"message":' + b'{"metadata":{"a":' + b'{"a":' * 20_000
    bodies = (b"", b"{", b"[]", b"\xff", b"1", b'{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":[[]]}', deep)
    async with home(scripted()) as there, there.http(**{"a2a-version": "1.0"}) as http:
        for body in bodies:
            for path in ("", "/message:send", "/message:stream"):
                answer = await http.post(f"{PATH}/agent{path}", content=body)
                assert answer.status_code < 500, (path, body, answer.text)
                assert "Traceback" not in answer.text
        for method, status in (("HEAD", 200), ("POST", 404)):
            card = await http.request(method, f"{PATH}/card/.well-known/agent-card.json")
            assert card.status_code == status
