"""Sessions over HTTP."""

import json
from typing import Any

from hermes_core.types import Principal


async def test_a_session_is_made_talked_in_and_deleted(serve: Any, scripted: Any) -> None:
    async with serve(scripted("One.", "Two.")) as server, server.http() as http:
        made = await http.post("/api/sessions", json={"id": "notes", "title": "Notes", "system": "Be brief."})
        assert (made.status_code, made.json()["title"]) == (201, "Notes")
        assert (await http.post("/api/sessions", json={"id": "notes"})).status_code == 409
        said = await http.post("/api/sessions/notes/chat", json={"input": "a"})
        assert said.json()["message"] == {"role": "assistant", "content": "One."}
        streamed = await http.post("/api/sessions/notes/chat/stream", json={"input": "b"})
        told = [json.loads(line[6:]) for line in streamed.text.splitlines() if line.startswith("data: ")]
        assert [one["event"] for one in told] == ["run.started", "message.delta", "run.completed"]
        found = (await http.get("/api/sessions/notes/messages?limit=3")).json()["data"]
        assert [(m["id"], m["role"], m["content"][0]["text"]) for m in found] == [
            (2, "assistant", "One."),
            (3, "user", "b"),
            (4, "assistant", "Two."),
        ]
        renamed = await http.patch("/api/sessions/notes", json={"title": "Diary"})
        assert renamed.json()["title"] == "Diary"
        [row] = (await http.get("/api/sessions")).json()["data"]
        assert (row["id"], row["title"], row["messages"], row["preview"]) == ("notes", "Diary", 4, "a")
        fork = await http.post("/api/sessions/notes/fork", json={"title": "Copy"})
        assert fork.status_code == 201
        assert (await http.delete("/api/sessions/notes")).json()["deleted"] is True
        assert (await http.get("/api/sessions/notes")).status_code == 404
        copied = (await http.get(f"/api/sessions/{fork.json()['id']}/messages")).json()["data"]
        assert len(copied) == 4


async def test_a_session_that_is_not_there_is_not_made_by_talking(serve: Any, scripted: Any) -> None:
    async with serve(scripted()) as server, server.http() as http:
        assert (await http.post("/api/sessions/none/chat", json={"input": "a"})).status_code == 404
        assert (await http.get("/api/sessions")).json()["data"] == []


async def test_two_people_see_nothing_of_each_other(serve: Any, scripted: Any) -> None:
    async with serve(scripted("One.")) as server, server.http() as http, server.http("alices-key-0123456789") as her:
        await http.post("/api/sessions", json={"id": "mine"})
        await http.post("/api/sessions/mine/chat", json={"input": "secret"})
        assert (await her.get("/api/sessions")).json()["data"] == []
        for method, path, body in (
            ("GET", "", None),
            ("PATCH", "", {"title": "x"}),
            ("DELETE", "", None),
            ("GET", "/messages", None),
            ("POST", "/fork", {}),
            ("POST", "/chat", {"input": "a"}),
            ("POST", "/chat/stream", {"input": "a"}),
        ):
            answer = await her.request(method, f"/api/sessions/mine{path}", json=body)
            assert answer.status_code == 404, (method, path)
            assert "secret" not in answer.text
        taken = await her.post("/api/sessions", json={"id": "mine"})
        assert taken.status_code == 400


async def test_a_scope_of_a_key_is_a_person_of_its_own(serve: Any, scripted: Any) -> None:
    async with serve(scripted("One.")) as server, server.http() as http:
        scoped = {"x-hermes-session-key": "user-7"}
        await http.post(
            "/v1/chat/completions",
            json={"model": "hermes", "messages": [{"role": "user", "content": "a"}]},
            headers=scoped,
        )
        assert (await http.get("/api/sessions")).json()["data"] == []
        [row] = (await http.get("/api/sessions", headers=scoped)).json()["data"]
        assert row["preview"] == "a"
        [known] = await server.ctx.sessions.rows(Principal(person=":user-7"))
        assert known.session.owner.person == ":user-7"


async def test_numbers_in_the_address_are_checked(serve: Any, scripted: Any) -> None:
    async with serve(scripted()) as server, server.http() as http:
        for query in ("limit=0", "limit=-1", "limit=x", "limit=1001", "limit=1e3", f"limit={'9' * 400}"):
            assert (await http.get(f"/api/sessions?{query}")).status_code == 400, query
