"""What a person in a chat, and one at the terminal, are told of a message's path."""

import asyncio
import json
import re
from contextlib import asynccontextmanager

from attrs import evolve
from gateway_house import context_of

from hermes_core.kinds import tool
from hermes_core.testing import Call, FakePlatform
from hermes_core.types import Envelope, Message, Text
from hermes_platform_gateway.gateway import Gateway
from hermes_platform_gateway.rows.kept import sent

OPEN = {"gateway.allow_all_users": True}


class Room(FakePlatform):
    """A chat service in which several people write."""

    account, number = "bot", 0

    def write(self, text: str, sender: str = "anna", event: str = "") -> None:
        self.number += 1
        where = {"platform": self.name, "account": "bot", "chat": f"chat of {sender}", "sender": sender}
        ids = {"event_id": event or f"e{self.number}", "message_id": f"m{self.number}"}
        message = Message(role="user", parts=(Text(text=text),))
        self.service.bring(Envelope(**where, **ids, sender_name=sender.title(), message=message))

    async def until(self, count: int) -> list[str]:
        """What was sent, once it is as much."""
        async with asyncio.timeout(20):
            while len(seen := list(await self.service.seen())) < count:
                await asyncio.sleep(0.01)
        return seen


@asynccontextmanager
async def serving(hermes, *platforms):
    gateway, stop = Gateway(context_of(hermes), platforms), asyncio.Event()
    task = asyncio.create_task(gateway.run(stop))
    try:
        yield gateway
    finally:
        stop.set()
        await task


@tool
async def look() -> str:
    """Look around."""
    return "nothing here"


async def test_a_message_that_nobody_can_answer_is_found_with_the_reason(hermes, capsys) -> None:
    from hermes_tool_commands.why import make_why

    hermes.configure(OPEN)
    room = Room()
    async with serving(hermes, room):
        room.write("my secret wish", event="lost-event")
        [told] = await room.until(1)
    assert "No provider can answer." in told
    for word in ("latest", "lost-event", "m1"):
        assert await make_why(context_of(hermes)).callback(message=word, as_json=False) == 1
        out = capsys.readouterr().out
        assert "fake dm from" in out
        assert "not taken" in out
        assert "It was not taken, and the person was told so: No provider can answer." in out
        assert "my secret wish" not in out


async def test_a_person_asks_for_their_own_last_message(hermes, scripted) -> None:
    hermes.configure(OPEN)
    hermes.tmp_plugin(scripted("For Anna.", Call("look"), "For Ben."))
    hermes.tmp_plugin(look)
    room = Room()
    async with serving(hermes, room):
        room.write("Hi.")
        await room.until(1)
        room.write("Hi.", sender="ben")
        await room.until(2)
        room.write("/why")
        told = (await room.until(3))[2]
    assert re.findall(r"\d\d\.\d{3}  (\w+):", told) == ["received", "turn", "model", "answer", "outbox", "receipt"]
    assert "from Anna" in told
    assert "It arrived" in told
    assert "Ben" not in told


async def test_nobody_asks_for_the_message_of_another(hermes, scripted) -> None:
    hermes.configure(OPEN)
    hermes.tmp_plugin(scripted("For Anna."))
    room = Room()
    async with serving(hermes, room):
        room.write("Hi.", event="secret-event")
        await room.until(1)
        room.write("/why secret-event", sender="ben")
        assert "No message of yours is named" in (await room.until(2))[1]


async def test_one_trace_leads_from_the_event_to_the_receipt_without_its_words(hermes, scripted) -> None:
    hermes.configure(OPEN)
    hermes.tmp_plugin(scripted(Call("look"), "Done."))
    hermes.tmp_plugin(look)
    room = Room()
    async with serving(hermes, room):
        room.write("Hi.")
        await room.until(1)
    store, owner = await hermes.runtime.store(), hermes.runtime.owner
    [path] = await store.traces.find("m1", owner, everybody=True)
    path = evolve(path, outgoing=await sent(context_of(store), path.trace, path.turn_id, None))
    assert re.fullmatch("[0-9a-f]{16}", path.trace)
    assert [row["state"] for row in path.outgoing] == ["sent"]
    assert [(call["name"], call["outcome"]) for turn in path.turns for call in turn["tools"]] == [("look", "ok")]
    assert all(call["seconds"] > 0 for turn in path.turns for call in turn["models"])
    assert json.dumps([path.received, path.turns, path.outgoing]).count("nothing here") == 0, "nothing that was said"
