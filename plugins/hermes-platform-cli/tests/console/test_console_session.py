"""Messages between a platform and the agent."""

import asyncio

import pytest

from hermes_core.hooks import hookimpl
from hermes_core.kinds import Platform
from hermes_core.testing import Fail
from hermes_core.types import Ended, Envelope, Failed, Feature, Message, Session, SlashCommand, Text


class Room(Platform):
    """A room whose visitors say lines one after another; each waits for the answer to the last."""

    name = "room"

    def __init__(self, *lines: str, live: bool = False, limit: int = 0) -> None:
        self.features = frozenset({Feature.LIVE}) if live else frozenset()
        self.limit = limit
        self.lines, self.said, self.events, self.acked = lines, [], [], []
        self.settled = asyncio.Event()

    async def open(self, console) -> None:
        self.console = console

    async def receive(self):
        for number, line in enumerate(self.lines):
            self.settled.clear()
            said = Message(role="user", parts=(Text(text=line),))
            yield Envelope(platform="room", account="a", event_id=str(number), chat="c", sender="p", message=said)
            await asyncio.wait_for(self.settled.wait(), 5)

    async def ack(self, envelope) -> None:
        self.acked.append(envelope.event_id)

    async def send(self, chat, message, key):
        self.said.append("".join(p.text for p in message.parts))
        self.settled.set()

    async def show(self, chat, event) -> None:
        self.events.append(event)
        if isinstance(event, Ended):
            self.settled.set()


async def serve(hermes, room) -> Room:
    await hermes.serve(room)
    return room


async def test_each_message_is_acknowledged_and_answered(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted("one", "two"))
    room = await serve(hermes, Room("a", "b"))
    assert room.said == ["one", "two"]
    assert room.acked == ["0", "1"]


async def test_a_live_platform_gets_events_and_no_second_answer(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted("one"))
    room = await serve(hermes, Room("a", live=True))
    assert room.events[-1].answer == "one"
    assert room.said == []


async def test_a_failure_is_told(hermes, scripted) -> None:
    from hermes_core.errors import AuthError

    hermes.tmp_plugin(scripted(Fail(AuthError("The key is wrong.", hint="Set X."))))
    room = await serve(hermes, Room("a"))
    assert room.said == ["The key is wrong.\nSet X."]


@pytest.mark.parametrize("live", [False, True])
async def test_a_message_that_cannot_be_carried_is_answered_too(hermes, live) -> None:
    room = await serve(hermes, Room("a", live=live))  # no provider is installed
    told = room.said if not live else [e.text for e in room.events if isinstance(e, Failed)]
    assert "provider" in told[0]


async def test_a_long_answer_comes_in_pieces(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted("word " * 30))
    room = Room("a", limit=60)
    await serve(hermes, room)
    assert len(room.said) > 1
    assert all(len(piece) <= 60 for piece in room.said)


async def test_slash_commands_are_run_by_the_kernel(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted("hello", "again"))
    lines = ("hi", "/title Greetings", "/sessions", "/search hello", "/usage", "/tools", "/model", "/retry", "/hlep")
    room = await serve(hermes, Room(*lines))
    answers = dict(zip(lines, room.said, strict=True))
    assert "Greetings" in answers["/sessions"]
    assert ">>>hello<<<" in answers["/search hello"]
    assert "1 model calls" in answers["/usage"]
    assert answers["/model"] == "Answering: scripted-1 from scripted."
    assert answers["/retry"] == "again"
    assert "Did you mean /help?" in answers["/hlep"]


async def test_a_command_before_the_first_message_is_no_failure(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted())
    room = await serve(hermes, Room("/model", "/new", "/usage", live=True))
    assert room.said[0] == "Answering: scripted-1 from scripted."
    assert "New session" in room.said[1]
    assert room.said[2:] == ["Nothing used yet."]
    assert not room.events


async def test_new_and_resume_change_the_session(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted("hello"))
    room = await serve(hermes, Room("hi", "/title First", "/new", "/resume First"))
    assert "New session" in room.said[2]
    assert "user: hi" in room.said[3]
    assert room.console.status("c")["title"] == "First"


async def test_help_lists_every_command(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted())
    room = await serve(hermes, Room("/help"))
    assert all(f"/{c.name}" in room.said[0] for c in room.console.commands)


async def test_an_interrupted_turn_ends_with_an_event(hermes, scripted) -> None:
    waiting = asyncio.Event()

    class Impatient(Room):
        async def show(self, chat, event) -> None:
            await super().show(chat, event)
            if type(event).__name__ == "Called":
                asyncio.get_running_loop().call_soon(lambda: asyncio.ensure_future(self.console.interrupt(chat.id)))

    from hermes_core.kinds import tool
    from hermes_core.testing import Call

    @tool
    async def waits() -> str:
        """Wait."""
        await waiting.wait()
        return ""

    hermes.tmp_plugin(scripted(Call("waits")))
    hermes.tmp_plugin(waits)
    room = await serve(hermes, Impatient("go", live=True))
    assert room.events[-1].reason == "interrupted"
    assert room.events[-1].usage.calls == 1


async def test_what_a_command_says_for_the_person_is_answered_by_the_model(hermes, scripted) -> None:
    provider = scripted("Water the plants.")

    async def say(_session: Session, rest: str) -> Message:
        return Message(role="user", parts=(Text(text=f"Think of {rest}."),))

    @hookimpl
    def register_slash_commands():
        return [SlashCommand(name="think", summary="think of something", run=say)]

    hermes.tmp_plugin(provider)
    hermes.tmp_plugin(register_slash_commands, name="thinker", manifest={"contributes": {"slash": ["think"]}})
    room = await serve(hermes, Room("/think plants"))
    assert room.said == ["Water the plants."]
    assert provider.requests[0].messages[-1].parts[0].text == "Think of plants."
