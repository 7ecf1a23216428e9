"""Honcho's own SDK, and a server that answers as Honcho does: told, learned, each person's own, and gone."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from hermes_core.errors import ToolError
from hermes_core.testing import Call
from hermes_core.types import Message, Principal, Returned, Session, Source, Text
from hermes_memory_honcho.memory import HonchoMemory

sys.path.insert(0, str(Path(__file__).parent))  # pytest does not do it in this import mode

from honcho_server import KEY, Server

BEN = Principal(person="ben")
SAID = Source(by="user", session_id="old")


@pytest.fixture
def server():
    made = Server()
    yield made
    made.close()


@pytest.fixture
def house(hermes, server, monkeypatch):
    monkeypatch.setenv("HONCHO_API_KEY", KEY)

    def make(provider, **more):
        hermes.tmp_plugin(provider)
        hermes.tmp_plugin("hermes_memory_honcho")
        near = {"memories.honcho.near": 0.2, "memories.honcho.base_url": server.url}
        hermes.configure({"memory.provider": "honcho", "policy.mode": "off", **near, **more})
        hermes._options["strict"] = False
        return hermes.runtime.memory.of()[1]

    return make


def message(text, role="user"):
    return Message(role=role, parts=(Text(text=text),))


async def ask(hermes, text, session="s"):
    results = [e.result async for e in hermes.turn(text, session=session) if isinstance(e, Returned)]
    if looks := set(hermes.runtime.memory._looks):
        await asyncio.wait(looks)
    return ["".join(p.text for p in one.parts if isinstance(p, Text)) for one in results]


def told(provider):
    return "".join(p.text for p in provider.requests[-1].messages[-1].parts if isinstance(p, Text))


async def test_what_is_said_in_one_conversation_is_told_in_another(hermes, house, scripted, server):
    provider = scripted("Good.", "Two.")
    memory = house(provider)
    await ask(hermes, "My dog is called Rex. I live in Oslo.", "one")
    kept = {memo.text for memo in await memory.export(hermes.runtime.owner)}
    assert kept == {"person said: My dog is called Rex.", "person said: I live in Oslo."}, "and nothing of Hermes's"
    [workspace] = server.workspaces.values()
    assert [one.content for one in workspace["messages"]][-1] == "Good."
    await ask(hermes, "What is my dog called?", "two")
    assert "- person said: My dog is called Rex." in told(provider)
    assert not await memory.prefetch(Session(id="x", origin="cli", owner=BEN), message("What is my dog called?"))


async def test_a_conversation_begins_with_who_the_person_is(hermes, house, scripted, server):
    memory = house(scripted())
    session = Session(id="s", origin="cli", owner=hermes.runtime.owner)
    assert await memory.brief(session) == ""
    [workspace] = server.workspaces.values()
    workspace["cards"]["person", "person"] = ["Name: Ada", "Cooks"]
    assert await memory.brief(session) == "What is known of the person:\n- Name: Ada\n- Cooks"


async def test_its_tools_keep_find_and_forget(hermes, house, scripted):
    provider = scripted(
        Call("honcho_memory", {"text": "Rex is a dog."}), Call("honcho_search", {"query": "dog Rex"}), "done",
    )  # fmt: skip
    memory = house(provider, **{"memories.honcho.learn": False})
    kept, found = await ask(hermes, "go")
    [memo] = await memory.export(hermes.runtime.owner)
    assert memo.source == Source(by="model", session_id="s", trusted=True)
    assert memo.id in kept
    assert found == f"{memo.id}: Rex is a dog."


async def test_what_comes_from_outside_is_never_taken_for_trusted(house, scripted, hermes, server):
    memory, me = house(scripted()), hermes.runtime.owner
    outside = Source(by="web", session_id="s", trusted=False)
    server.broken = True
    with pytest.raises(ToolError):
        await memory.add(me, "Said by a page.", outside)
    server.broken = False
    memo = await memory.add(me, "Said by a page.", SAID)  # as it was written down before the server failed
    assert not memo.source.trusted
    assert [one.source.trusted for one in await memory.search(me, "", 9)] == [False]


class Masked:
    """Masks one secret."""

    def text(self, text):
        return text.replace("4711-4711", "***")


async def test_no_name_and_no_secret_goes_there(hermes, house, scripted, server):
    memory = house(scripted())
    memory._masks = Masked()
    person = Principal(person="telegram:ada-lovelace")
    await memory.add(person, "Rex is a dog.", SAID)
    await memory.learn(Session(id="s", origin="cli", owner=person), [message("My key is 4711-4711, keep it.")])
    sent = json.dumps(server.asked)
    assert "lovelace" not in sent
    assert "4711-4711" not in sent
    assert "My key is ***, keep it." in sent


async def test_a_fact_that_changed_comes_first(hermes, house, scripted):
    memory, me = house(scripted()), hermes.runtime.owner
    for place in ("cellar", "attic"):
        await memory.add(me, f"The printer stands in the {place}.", SAID)
    found = [memo.text for memo in await memory.search(me, "where does the printer stand", 9)]
    assert found[:2] == ["The printer stands in the attic.", "The printer stands in the cellar."]


async def test_erased_is_all_that_the_server_has_of_a_person(hermes, house, scripted, server):
    memory, me = house(scripted("Good.")), hermes.runtime.owner
    await ask(hermes, "My canary is called Rex.", "one")
    await memory.add(me, "A canary too.", SAID)
    await memory.add(BEN, "Ben sleeps late.", SAID)
    await hermes.command("honcho erase", "--yes")
    everything = str(server.workspaces)
    assert "canary" not in everything
    assert "Ben sleeps late." in everything
    assert not await memory.export(me)
    assert not await memory._sources.all(me)
    assert [memo.text for memo in await memory.export(BEN)] == ["Ben sleeps late."]


@pytest.mark.long
async def test_many_are_paged_and_all_go(hermes, house, scripted, server):
    memory, me = house(scripted()), hermes.runtime.owner
    for number in range(120):
        await memory.add(me, f"canary{number:03d}x is a fact.", SAID)
    kept = await memory.export(me)
    assert len(kept) == 120
    for memo in kept[:5]:
        await memory.forget(me, memo.id)
    assert len(await memory.export(me)) == 115
    assert await memory.erase(me) == 115
    assert "canary" not in str(server.workspaces)


async def test_a_server_that_is_down_or_does_not_take_the_key_is_said(hermes, house, scripted, server):
    memory, me = house(scripted("One.")), hermes.runtime.owner
    server.key = "another"
    with pytest.raises(ToolError, match="does not take the key") as refused:
        await memory.search(me, "", 9)
    assert KEY not in str(refused.value)
    server.key, server.broken = KEY, True
    with pytest.raises(ToolError, match="could not do it"):
        await memory.erase(me)
    await ask(hermes, "Hello there, server.")  # a turn goes on without it
    server.broken = False
    checks = [one for _, one in hermes.runtime.dispatch.contributions("register_checks") if one.name == "honcho"]
    if checks:
        assert [finding.level for finding in await checks[0].run()] == ["ok"]


async def test_nothing_is_sent_where_learning_is_off(hermes, house, scripted, server):
    house(scripted("Good."), **{"memories.honcho.learn": False})
    await ask(hermes, "My dog is called Rex.")
    assert not [one for one in server.asked if one[1].endswith("/messages")]


def test_it_is_the_sdk_itself():
    import honcho

    assert honcho.Honcho.__module__ == "honcho.client"
    assert HonchoMemory.name == "honcho"
