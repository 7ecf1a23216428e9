"""What the server says of itself."""

from typing import Any

from hermes_core.kinds import tool


@tool(toolset="clock")
async def now() -> str:
    """The time."""
    return "noon"


async def test_it_says_what_it_is_and_can_do(serve: Any, scripted: Any, tmp_path: Any) -> None:
    skill = tmp_path / "home" / "skills" / "tidy" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: tidy\ndescription: Tidying up.\n---\nDo it.\n")
    async with serve(scripted(), {"toolsets": ["clock"]}, now) as server, server.http() as http:
        limits = (await http.get("/v1/capabilities")).json()["limits"]
        tools = (await http.get("/v1/toolsets")).json()["data"]
        skills = (await http.get("/v1/skills")).json()["data"]
        health = (await http.get("/health/detailed")).json()
        one, none = await http.get("/v1/models/hermes"), await http.get("/v1/models/gpt-9")
    assert limits["body_bytes"] == 10_000_000
    assert limits["text_characters"] == 1_000_000
    assert limits["concurrent_turns"] == 10
    assert tools == [{"name": "clock", "tools": [{"name": "now", "description": "The time."}]}]
    assert {"name": "tidy", "description": "Tidying up."} in skills
    assert (health["status"], health["checks"]) == ("ok", {"store": "ok", "model": "ok"})
    assert (one.json()["id"], none.status_code) == ("hermes", 404)
