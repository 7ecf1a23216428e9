"""Slash commands over HTTP: a request of its own runs one, and nothing that is said to a model does."""

from typing import Any

import pytest

from .conftest import ALICE, KEY

PLUGINS = ("hermes_tool_commands", "hermes_tool_todo", "hermes_tool_provenance")


async def command(http: Any, session: str, line: str) -> Any:
    return await http.post(f"/api/sessions/{session}/commands", json={"command": line})


async def test_commands_answer_for_a_session_that_a_completion_began(serve: Any, scripted: Any) -> None:
    async with serve(scripted("One."), {}, *PLUGINS) as server, server.http() as http:
        body = {"model": "hermes", "messages": [{"role": "user", "content": "a"}]}
        session = (await http.post("/v1/chat/completions", json=body)).headers["x-hermes-session-id"]
        used = await command(http, session, "/usage")
        assert used.status_code == 200
        assert used.json()["object"] == "hermes.command"
        assert "1 call" in used.json()["text"] or "tokens" in used.json()["text"], used.json()
        helped = (await command(http, session, "/help")).json()["text"]
        assert "/model" in helped
        for hidden in ("/permission", "/yolo", "/queue", "/config", "/reload", "/save", "/sethome", "/approve"):
            assert f"{hidden} " not in helped, hidden
        assert "over the API" in (await command(http, session, "/help usage")).json()["text"]
        titled = await command(http, session, "/title Notes of a day")
        assert titled.status_code == 200
        assert (await http.get(f"/api/sessions/{session}")).json()["title"] == "Notes of a day"


@pytest.mark.parametrize(
    "line", ["/permission off", "/yolo", "/config policy.mode off", "/reload", "/nonsense", "/trust add ."]
)
async def test_what_would_widen_is_no_command_here(serve: Any, scripted: Any, line: str) -> None:
    """Not for the owner's key either: whoever has it says what others wrote, too."""
    async with serve(scripted(), {}, *PLUGINS) as server, server.http() as http:
        await http.post("/api/sessions", json={"id": "s"})
        refused = await command(http, "s", line)
        assert refused.status_code == 400
        assert "There is no command" in refused.json()["error"]["message"]


async def test_tools_are_not_switched_and_settings_stay(serve: Any, scripted: Any) -> None:
    async with serve(scripted(), {}, *PLUGINS) as server, server.http() as http:
        await http.post("/api/sessions", json={"id": "s"})
        assert (await command(http, "s", "/tools disable todo")).status_code == 400
        assert (await command(http, "s", "/model scripted --global")).status_code in (400, 404)


async def test_what_is_said_is_never_taken_for_a_command(serve: Any, scripted: Any) -> None:
    """A client says it word for word to the model, in each protocol."""
    said = "/usage"
    async with serve(scripted("A.", "B.", "C.", "D.", "E."), {}, *PLUGINS) as server, server.http() as http:
        message = [{"role": "user", "content": said}]
        whole = await http.post("/v1/chat/completions", json={"model": "hermes", "messages": message})
        assert whole.json()["choices"][0]["message"]["content"] == "A."
        answered = await http.post("/v1/responses", json={"model": "hermes", "input": said})
        assert answered.status_code == 200
        messages = {"model": "hermes", "max_tokens": 100, "messages": message}
        assert (await http.post("/v1/messages", json=messages)).json()["content"][0]["text"] == "C."
        assert (await http.post("/v1/runs", json={"input": said})).status_code == 202
        await server.until(lambda: not server.running)
        await http.post("/api/sessions", json={"id": "s"})
        assert (await http.post("/api/sessions/s/chat", json={"input": said})).json()["message"]["content"] == "E."


async def test_a_model_is_chosen_for_one_session(serve: Any, scripted: Any) -> None:
    model = scripted("One.", "Two.")
    async with serve(model, {}, *PLUGINS) as server, server.http() as http:
        for name in ("s", "other"):
            await http.post("/api/sessions", json={"id": name})
        shown = (await command(http, "s", "/reasoning high")).json()
        assert "high" in shown["text"]
        assert "high" in (await command(http, "s", "/reasoning")).json()["text"]
        assert "high" not in (await command(http, "other", "/reasoning")).json()["text"]
        for name in ("s", "other"):
            await http.post(f"/api/sessions/{name}/chat", json={"input": "a"})
        assert [one.options.get("effort", "") for one in model.requests] == ["high", ""]


async def test_what_takes_something_away_asks_first(serve: Any, scripted: Any) -> None:
    async with serve(scripted("One."), {}, *PLUGINS) as server, server.http() as http:
        await http.post("/api/sessions", json={"id": "s"})
        await http.post("/api/sessions/s/chat", json={"input": "a"})
        asked = (await command(http, "s", "/undo")).json()
        assert "Really?" in asked["text"]
        assert {one["label"]: one["command"] for one in asked["choices"]} == {
            "Yes": "/undo --once",
            "No": "/undo --cancel",
        }
        assert "Taken back" in (await command(http, "s", "/undo --once")).json()["text"]


async def test_a_command_for_the_model_is_answered_by_it(serve: Any, scripted: Any) -> None:
    async with serve(scripted("One.", "Once more."), {}, *PLUGINS) as server, server.http() as http:
        await http.post("/api/sessions", json={"id": "s"})
        await http.post("/api/sessions/s/chat", json={"input": "a"})
        again = (await command(http, "s", "/retry")).json()
        assert again["text"] == "Once more."
        assert again["usage"]["total_tokens"] >= 0
        new = (await command(http, "s", "/new")).json()["session_id"]
        assert new != "s"
        assert (await http.get(f"/api/sessions/{new}")).status_code == 200
        assert (await command(http, new, "/resume s")).json()["session_id"] == "s"


async def test_a_session_of_somebody_else_is_not_there(serve: Any, scripted: Any) -> None:
    async with serve(scripted(), {}, *PLUGINS) as server:
        async with server.http() as http:
            await http.post("/api/sessions", json={"id": "mine"})
        async with server.http(ALICE) as hers:
            assert (await command(hers, "mine", "/usage")).status_code == 404
            await hers.post("/api/sessions", json={"id": "hers"})
            assert "alice" in (await command(hers, "hers", "/whoami")).json()["text"]
            assert (await command(hers, "hers", "/resume mine")).status_code in (400, 404)


@pytest.mark.parametrize("body", [{}, {"command": "usage"}, {"command": "/"}, {"command": 1}, {"command": ""}])
async def test_what_is_no_command_is_refused(serve: Any, scripted: Any, body: dict[str, Any]) -> None:
    async with serve(scripted(), {}, *PLUGINS) as server, server.http(KEY) as http:
        await http.post("/api/sessions", json={"id": "s"})
        assert (await http.post("/api/sessions/s/commands", json=body)).status_code == 400
