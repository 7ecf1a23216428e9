"""The desk: turns and sessions for a platform whose clients keep the conversations."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import Any
from uuid import uuid4

import pytest

from hermes_core.console.desk import RuntimeDesk
from hermes_core.errors import NotPermitted, UnknownName, UserError
from hermes_core.testing import Bench, FakePlatform
from hermes_core.types import Ended, Envelope, Event, Failed, Message, Said, Text

MAY = {"permissions": {"kernel": ["turns.run", "sessions.read", "sessions.write"]}}


def say(text: str, role: Any = "user") -> Message:
    return Message(role=role, parts=(Text(text=text),))


def envelope(text: str, event_id: str = "") -> Envelope:
    message = say(text)
    return Envelope(
        platform="fake", account="", event_id=event_id or uuid4().hex, chat="c", sender="s", message=message
    )


async def play(desk: RuntimeDesk, text: str, **given: Any) -> Ended:
    event_id = given.pop("event_id", "")
    events: list[Event] = []
    async with contextlib.aclosing(desk.turn(envelope(text, event_id), **given)) as turn:
        events = [event async for event in turn]
    assert isinstance(events[-1], Ended)
    assert not [e for e in events if isinstance(e, Failed)], events
    return events[-1]


@pytest.fixture
async def open_desk(hermes: Bench) -> AsyncIterator[Any]:
    def made(*things: object, manifest: Any = MAY) -> RuntimeDesk:
        platform = FakePlatform()
        hermes.tmp_plugin(platform, manifest=manifest)
        for thing in things:
            hermes.tmp_plugin(thing)
        hermes.runtime.loader.load_contributing("platforms")
        return RuntimeDesk(hermes.runtime, platform)

    return made


async def texts(desk: RuntimeDesk, session: str, person: str = "") -> Sequence[str]:
    found = await desk.sessions.messages(session, person, window=100)
    return ["".join(p.text for p in m.parts if isinstance(p, Text)) for _, m in found]


async def test_without_the_permission_nothing_runs_and_nothing_is_read(open_desk: Any) -> None:
    desk = open_desk(manifest={})
    with pytest.raises(NotPermitted, match="ran a turn without declaring it"):
        await play(desk, "Hi.")
    with pytest.raises(NotPermitted):
        await desk.sessions.list()
    with pytest.raises(NotPermitted):
        await desk.sessions.create()


async def test_a_client_that_sends_its_history_goes_on_in_one_session(open_desk: Any, scripted: Any) -> None:
    model = scripted("One.", "Two.", "Three.")
    desk = open_desk(model)
    first = await play(desk, "a")
    history = [say("a"), say("One. ", "assistant")]  # clients trim, or add
    second = await play(desk, "b", history=history)
    third = await play(desk, "c", history=[*history, say("b"), say("Two.", "assistant")])
    assert first.session_id == second.session_id == third.session_id
    assert await texts(desk, first.session_id) == ["a", "One.", "b", "Two.", "c", "Three."]
    assert [r.messages[0] for r in model.requests[1:]] == [model.requests[0].messages[0]] * 2


async def test_a_history_that_nobody_here_said_begins_a_session(open_desk: Any, scripted: Any) -> None:
    model = scripted("Blue.")
    desk = open_desk(model)
    history = [say("I like blue."), say("Noted.", "assistant")]
    ended = await play(desk, "What do I like?", history=history)
    assert await texts(desk, ended.session_id) == ["I like blue.", "Noted.", "What do I like?", "Blue."]
    assert [m.role for m in model.requests[0].messages] == ["system", "user", "assistant", "user"]


async def test_two_who_go_on_from_one_point_do_not_mix(open_desk: Any, scripted: Any) -> None:
    desk = open_desk(scripted("One.", "Left.", "Right."))
    first = await play(desk, "a")
    history = [say("a"), say("One.", "assistant")]
    left = await play(desk, "left", history=history)
    right = await play(desk, "right", history=history)
    assert left.session_id == first.session_id != right.session_id
    assert await texts(desk, right.session_id) == ["a", "One.", "right", "Right."]


async def test_a_session_that_went_on_by_its_id_is_not_found_by_its_old_end(open_desk: Any, scripted: Any) -> None:
    desk = open_desk(scripted("One.", "Aside.", "Two."))
    first = await play(desk, "a")
    await play(desk, "aside", session=first.session_id)
    second = await play(desk, "b", history=[say("a"), say("One.", "assistant")])
    assert second.session_id != first.session_id


async def test_one_persons_history_never_leads_into_anothers_session(open_desk: Any, scripted: Any) -> None:
    desk = open_desk(scripted("One.", "Two."))
    first = await play(desk, "a", person="alice")
    second = await play(desk, "b", person="bob", history=[say("a"), say("One.", "assistant")])
    assert first.session_id != second.session_id
    with pytest.raises(UnknownName):
        await desk.sessions.messages(first.session_id, "bob")
    assert [row.session.id for row in await desk.sessions.list("bob")] == [second.session_id]


async def test_a_callers_system_message_is_in_the_prompt_for_good(open_desk: Any, scripted: Any) -> None:
    model = scripted("Arr.", "Arr again.", "Oui.")
    desk = open_desk(model)
    first = await play(desk, "a", system="Talk like a pirate.")
    again = [say("a"), say("Arr.", "assistant")]
    await play(desk, "b", system="Talk like a pirate.", history=again)
    prompts = [r.messages[0].parts[0].text for r in model.requests]
    assert "Talk like a pirate." in prompts[0]
    assert prompts[0] == prompts[1]
    await play(desk, "c", system="Talk French.", session=first.session_id)
    assert model.requests[2].messages[0].parts[0].text == prompts[0]
    said = "".join(p.text for p in model.requests[2].messages[-1].parts)
    assert said == "<instructions>\nTalk French.\n</instructions>\n\nc"


async def test_what_became_of_an_event_can_be_asked(open_desk: Any, scripted: Any) -> None:
    desk = open_desk(scripted("One."))
    assert await desk.past("e1") is None
    ended = await play(desk, "a", event_id="e1")
    past = await desk.past("e1")
    assert past is not None
    assert (past.state, past.answer, past.turn_id, past.last) == ("done", "One.", ended.turn_id, True)
    assert past.message == say("a")
    assert past.usage.output == 1
    assert await desk.past("e1", person="bob") is None
    assert not await desk.forget("e1", person="bob")
    assert await desk.forget("e1")
    assert await desk.past("e1") is None
    assert await texts(desk, ended.session_id) == ["a", "One."]


async def test_an_event_is_played_once(open_desk: Any, scripted: Any) -> None:
    desk = open_desk(scripted("One.", "never shown"))
    await play(desk, "a", event_id="e1")
    events = [event async for event in desk.turn(envelope("a", "e1"))]
    assert [e.kind for e in events if isinstance(e, Failed)] == ["duplicate"]
    assert not [e for e in events if isinstance(e, Said)]


async def test_closing_a_turn_interrupts_it(open_desk: Any, scripted: Any) -> None:
    began = asyncio.Event()

    def slow(_request: Any) -> str:
        began.set()
        return "word " * 1000

    desk = open_desk(scripted(slow))
    turn = desk.turn(envelope("a", "e1"))
    async for event in turn:
        if isinstance(event, Said):
            break
    await turn.aclose()
    past = await desk.past("e1")
    assert past is not None
    assert past.state == "interrupted"


async def test_sessions_are_made_renamed_forked_and_deleted(open_desk: Any, scripted: Any) -> None:
    model = scripted("One.", "Two.", "Fork.")
    desk = open_desk(model)
    made = await desk.sessions.create("alice", title="Notes", system="Be brief.")
    first = await play(desk, "a", person="alice", session=made.id)
    await play(desk, "b", person="alice", session=made.id)
    assert (await desk.sessions.rename(made.id, "Diary", "alice")).title == "Diary"
    fork = await desk.sessions.fork(made.id, "alice", upto=first.turn_id, title="Other")
    assert await texts(desk, fork.id, "alice") == ["a", "One."]
    await play(desk, "c", person="alice", session=fork.id)
    assert model.requests[2].messages[0] == model.requests[0].messages[0]
    assert await texts(desk, made.id, "alice") == ["a", "One.", "b", "Two."]
    with pytest.raises(UnknownName):
        await desk.sessions.delete(made.id, "bob")
    await desk.sessions.delete(made.id, "alice")
    with pytest.raises(UnknownName):
        await desk.sessions.get(made.id, "alice")
    assert await texts(desk, fork.id, "alice") == ["a", "One.", "c", "Fork."]
    with pytest.raises(UserError, match=r"no such|cannot be"):
        await desk.sessions.create("bob", session="../etc")


async def test_another_model_can_answer_one_turn(open_desk: Any, scripted: Any) -> None:
    model = scripted("One.", "Two.")
    desk = open_desk(model)
    await play(desk, "a", model="scripted:big")
    await play(desk, "b")
    assert [r.model for r in model.requests] == ["big", "scripted-1"]


async def test_it_says_what_it_is_ready_for(open_desk: Any, scripted: Any) -> None:
    desk = open_desk(scripted())
    assert await desk.ready() == {"store": "ok", "model": "ok"}
    assert desk.toolsets() == {}
