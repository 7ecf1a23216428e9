"""Runs: turns that go on without their client."""

import asyncio
import json
from typing import Any

from attrs import frozen

from hermes_core.kinds import tool
from hermes_core.testing import Call
from hermes_core.types import Effect


@frozen(kw_only=True)
class Words:
    text: str = ""


@tool(toolset="t", effects=[Effect.WRITE_FILES], touches=lambda _words: ())
async def danger(words: Words) -> str:
    """Do something risky."""
    return f"did {words.text}"


def events(text: str) -> list[dict[str, Any]]:
    lines = [line for line in text.splitlines() if line.startswith("data: ")]
    return [json.loads(line[6:]) for line in lines]


async def until(http: Any, run: str, *states: str) -> dict[str, Any]:
    for _ in range(500):
        found: dict[str, Any] = (await http.get(f"/v1/runs/{run}")).json()
        if found["status"] in states:
            return found
        await asyncio.sleep(0.02)
    raise AssertionError(found)


async def test_a_run_is_accepted_watched_and_read_again(serve: Any, scripted: Any) -> None:
    async with serve(scripted("One two.")) as server, server.http() as http:
        begun = await http.post("/v1/runs", json={"input": "Hi.", "session_id": "s1"})
        assert begun.status_code == 202
        run = begun.json()["run_id"]
        assert begun.json()["session_id"] == "s1"
        told = events((await http.get(f"/v1/runs/{run}/events")).text)
        done = (await http.get(f"/v1/runs/{run}")).json()
        again = events((await http.get(f"/v1/runs/{run}/events")).text)
    assert [one["event"] for one in told] == ["run.started", "message.delta", "message.delta", "run.completed"]
    assert told[-1]["output"] == "One two."
    assert {one["run_id"] for one in told} == {run}
    assert [one["event"] for one in again] == [one["event"] for one in told]
    assert (done["status"], done["output"], done["usage"]["output_tokens"]) == ("completed", "One two.", 2)


async def test_a_run_waits_for_a_yes_and_goes_on_with_it(serve: Any, scripted: Any) -> None:
    model = scripted(Call("danger", {"text": "it"}), "Done.")
    async with serve(model, {"toolsets": ["t"]}, danger) as server, server.http() as http:
        run = (await http.post("/v1/runs", json={"input": "Do it."})).json()["run_id"]
        waits = await until(http, run, "waiting_for_approval")
        [question] = waits["approvals"]
        assert "danger" in question["subject"]
        wrong = await http.post(f"/v1/runs/{run}/approval", json={"choice": "once", "approval_id": "nothing"})
        assert wrong.status_code == 404
        told = await http.post(f"/v1/runs/{run}/approval", json={"choice": "once", "approval_id": question["id"]})
        assert told.json()["settled"] is True
        done = await until(http, run, "completed")
        seen = [one["event"] for one in events((await http.get(f"/v1/runs/{run}/events")).text)]
    assert done["output"] == "Done."
    assert seen == ["run.started", "tool.started", "tool.completed", "message.delta", "run.completed"]


async def test_a_no_is_a_no(serve: Any, scripted: Any) -> None:
    model = scripted(Call("danger"), "Then not.")
    async with serve(model, {"toolsets": ["t"]}, danger) as server, server.http() as http:
        run = (await http.post("/v1/runs", json={"input": "Do it."})).json()["run_id"]
        async with http.stream("GET", f"/v1/runs/{run}/events") as stream:
            async for line in stream.aiter_lines():
                if line == "event: approval.request":
                    await http.post(f"/v1/runs/{run}/approval", json={"choice": "deny"})
        done = await until(http, run, "completed")
    assert done["output"] == "Then not."
    [result] = model.requests[1].messages[-1].parts
    assert result.failed


async def test_without_a_run_nobody_is_there_to_ask(serve: Any, scripted: Any) -> None:
    model = scripted(Call("danger"), "It was refused.")
    async with serve(model, {"toolsets": ["t"]}, danger) as server, server.client() as client:
        whole = await client.chat.completions.create(model="hermes", messages=[{"role": "user", "content": "Do it."}])
    assert whole.choices[0].message.content == "It was refused."


async def test_a_run_can_be_stopped(serve: Any, scripted: Any) -> None:
    model = scripted(Call("danger"))
    async with serve(model, {"toolsets": ["t"]}, danger) as server, server.http() as http:
        run = (await http.post("/v1/runs", json={"input": "Do it."})).json()["run_id"]
        await until(http, run, "waiting_for_approval")
        stopped = await http.post(f"/v1/runs/{run}/stop")
        assert stopped.json()["status"] == "cancelled"
        assert (await until(http, run, "cancelled"))["output"] is None
        again = await http.post(f"/v1/runs/{run}/stop")
        assert again.status_code == 200
        assert events((await http.get(f"/v1/runs/{run}/events")).text)[-1]["event"] == "run.cancelled"


async def test_a_run_of_another_person_is_not_there(serve: Any, scripted: Any) -> None:
    async with serve(scripted("One.")) as server, server.http() as http, server.http("alices-key-0123456789") as her:
        run = (await http.post("/v1/runs", json={"input": "Hi."})).json()["run_id"]
        await until(http, run, "completed")
        for method, path in (("GET", ""), ("GET", "/events"), ("POST", "/stop"), ("POST", "/approval")):
            answer = await her.request(
                method, f"/v1/runs/{run}{path}", json={"choice": "once"} if method == "POST" else None
            )
            assert answer.status_code == 404, path


async def test_nobody_else_says_yes_and_nothing_is_taken_for_more_than_was_offered(serve: Any, scripted: Any) -> None:
    model = scripted(Call("danger", {"text": "it"}), "Then not.")
    async with (
        serve(model, {"toolsets": ["t"]}, danger) as server,
        server.http() as http,
        server.http("alices-key-0123456789") as her,
    ):
        run = (await http.post("/v1/runs", json={"input": "Do it."})).json()["run_id"]
        [question] = (await until(http, run, "waiting_for_approval"))["approvals"]
        for wanted in ({}, {"approval_id": question["id"]}):
            assert (await her.post(f"/v1/runs/{run}/approval", json={"choice": "once", **wanted})).status_code == 404
        wrong = await http.post(f"/v1/runs/{run}/approval", json={"choice": "for-ever"})
        assert wrong.status_code == 400
        assert (await until(http, run, "waiting_for_approval"))["approvals"] == [question]
        await http.post(f"/v1/runs/{run}/approval", json={"choice": "deny"})
        assert (await until(http, run, "completed"))["output"] == "Then not."


async def test_what_no_longer_is_kept_says_so(serve: Any, scripted: Any) -> None:
    async with serve(scripted("One."), {"platforms.api.run_seconds": 0}) as server, server.http() as http:
        run = (await http.post("/v1/runs", json={"input": "Hi."})).json()["run_id"]
        await until(http, run, "completed")
        await asyncio.sleep(0.01)
        gone = await http.get(f"/v1/runs/{run}/events")
        assert (gone.status_code, gone.json()["error"]["code"]) == (410, "events_gone")
        assert (await http.get(f"/v1/runs/{run}")).json()["output"] == "One."


async def test_a_run_that_cannot_begin_is_an_error(serve: Any, scripted: Any) -> None:
    async with serve(scripted()) as server, server.http() as http, server.http("alices-key-0123456789") as her:
        await her.post("/api/sessions", json={"id": "hers"})
        wrong = await http.post("/v1/runs", json={"input": "Hi.", "session_id": "hers"})
        assert (wrong.status_code, wrong.json()["error"]["code"]) == (404, "not_found")
