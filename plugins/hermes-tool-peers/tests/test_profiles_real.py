"""Two real profiles of one home in one room: each with its own memory and its own model, in processes of their own."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from hermes_core.testing import Bench, serve
from hermes_core.testing.model_service import Asked, http, model_service
from hermes_core.testing.protocol_replies import Said, events_of, reply_of, stream_of
from hermes_tool_peers.route import rooms_route

from .test_asking import hermes

pytestmark = [pytest.mark.real, pytest.mark.long]
KNOWS = {"bob": "The key lies below the green stone.", "cleo": "The stone is in the garden of Mia."}
ANSWERS = {"bob": "@cleo, where is the green stone?", "cleo": "@bob, it is in the garden. And the key?"}


def profile(home: Path, name: str, url: str) -> None:
    """A profile that answers the default one, with a model of its name and something in its memory."""
    hermes(home, "profile", "create", name)
    for words in (
        ("plugins", "enable", "peers", "--yes"),
        ("config", "set", "model.provider", "custom"),
        ("config", "set", "model.base_url", url),
        ("config", "set", "model.api_key", "k"),
        ("config", "set", "model.default", f"{name}-model"),
        ("config", "set", "tools.peers.take", "[default]"),
    ):
        hermes(home, "-p", name, *words)
    memories = home / "profiles" / name / "memories"
    memories.mkdir(parents=True, exist_ok=True)
    (memories / "MEMORY.md").write_text(KNOWS[name])


def line_of(asked: Asked) -> bytes:
    """What the model of a profile says to a request, as its service sends it."""
    name = str(asked.body["model"]).partition("-")[0]
    said = Said(pieces=[ANSWERS[name]], model=f"{name}-model")
    if asked.body.get("stream"):
        return http(200, stream_of("chat", events_of("chat", said)), "text/event-stream")
    return http(200, json.dumps(reply_of("chat", said)))


async def test_two_profiles_answer_in_one_room_each_from_its_own(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with model_service() as service:
        for name in KNOWS:
            await asyncio.to_thread(profile, home, name, f"{service.url}/v1")
        bench = Bench(home)
        bench.tmp_plugin("hermes_tool_peers")
        bench.configure({"tools.peers.answers": 3})
        route = rooms_route(bench.context("hermes_tool_peers"))

        async def post(path: str, **body: Any) -> Any:
            owner = bench.runtime.owner
            got = await serve(route, "POST", path, body=json.dumps(body).encode(), owner=owner)
            assert got.status < 300, got.body
            return json.loads(got.body)

        async def says(writer: asyncio.StreamWriter) -> bool:
            writer.write(line_of(service.asked[-1]))
            await writer.drain()
            return True

        service.always = says
        await post("/", name="ops", agents=["bob", "cleo"])
        told = await post("/ops/messages", text="@bob where is the key?", mark="1")
        again = await post("/ops/messages", text="@bob where is the key?", mark="1")
        await bench.close()
    said = [(one["from"], one["text"]) for one in told["messages"]]
    # Whom the person names answers, whom that names is next, and after three answers a person has to speak.
    assert said == [("", "@bob where is the key?"), *((who, ANSWERS[who]) for who in ("bob", "cleo", "bob"))]
    assert again == told
    asked = [(one.body["model"], json.dumps(one.body)) for one in service.asked if one.method == "POST"]
    assert [model for model, _ in asked] == ["bob-model", "cleo-model", "bob-model"]
    for model, body in asked:
        mine = model.partition("-")[0]
        assert [name for name, known in KNOWS.items() if known in body] == [mine]
        assert f"You are @{mine} in the room ops" in body
