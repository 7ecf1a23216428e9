"""Sessions that a plugin makes, forks, names and deletes, for the persons it serves."""

from typing import Any

import pytest

from hermes_core import hookimpl
from hermes_core.control import SessionsBroker
from hermes_core.errors import NotPermitted, UnknownName, UserError
from hermes_core.testing import Bench
from hermes_core.types import Message, Principal, Session, Text

ALICE, BOB = Principal(person="alice"), Principal(person="bob")


@hookimpl
async def on_session_start(ctx: Any, session: Session) -> None:
    """A plugin has to do something."""


@pytest.fixture
def sessions(hermes: Bench) -> Any:
    def made(*kernel: str) -> SessionsBroker:
        label = hermes.tmp_plugin(on_session_start, name="files", manifest={"permissions": {"kernel": [*kernel]}})
        found = hermes.runtime.index.get(label)
        assert found
        return hermes.runtime.plugin_context(found).sessions

    return made


def say(text: str, role: Any = "user") -> Message:
    return Message(role=role, parts=(Text(text=text),))


async def texts(sessions: SessionsBroker, session: str) -> list[str]:
    found = await sessions.read(ALICE, session, window=100)
    return ["".join(p.text for p in m.parts if isinstance(p, Text)) for _, m in found]


async def talk(hermes: Bench, session: str, text: str) -> str:
    turn_id = ""
    async for event in hermes.runtime.turns.run(text, session=session, owner=ALICE):
        turn_id = getattr(event, "turn_id", "") or turn_id
    return turn_id


async def test_sessions_are_made_renamed_forked_and_deleted(hermes: Bench, scripted: Any, sessions: Any) -> None:
    model = scripted("One.", "Two.", "Fork.")
    hermes.tmp_plugin(model)
    found = sessions("sessions.read", "sessions.write")
    made = await found.create(ALICE, title="Notes", system="Be brief.")
    assert (made.title, made.origin, made.owner) == ("Notes", "files", ALICE)
    first = await talk(hermes, made.id, "a")
    await talk(hermes, made.id, "b")
    assert (await found.rename(ALICE, made.id, "Diary")).title == "Diary"
    assert (await found.get(ALICE, made.id)).title == "Diary"
    fork = await found.fork(ALICE, made.id, upto=first, title="Other")
    assert await texts(found, fork.id) == ["a", "One."]
    await talk(hermes, fork.id, "c")
    assert model.requests[2].messages[0] == model.requests[0].messages[0]
    assert await texts(found, made.id) == ["a", "One.", "b", "Two."]
    for another in (found.delete(BOB, made.id), found.fork(BOB, made.id), found.get(BOB, made.id)):
        with pytest.raises(UnknownName):
            await another
    await found.delete(ALICE, made.id)
    with pytest.raises(UnknownName):
        await found.get(ALICE, made.id)
    assert await texts(found, fork.id) == ["a", "One.", "c", "Fork."]


async def test_an_id_is_exact_and_a_taken_one_is_refused(hermes: Bench, scripted: Any, sessions: Any) -> None:
    hermes.tmp_plugin(scripted())
    found = sessions("sessions.read", "sessions.write")
    await found.create(ALICE, "notes", title="latest")
    for name in ("latest", "note", "../etc"):
        with pytest.raises(UnknownName):
            await found.get(ALICE, name)
    for owner, name in ((ALICE, "notes"), (BOB, "notes"), (BOB, "../etc")):
        with pytest.raises(UserError, match=r"cannot be"):
            await found.create(owner, name)


async def test_one_begins_with_what_was_said_elsewhere(hermes: Bench, scripted: Any, sessions: Any) -> None:
    model = scripted("Blue.")
    hermes.tmp_plugin(model)
    found = sessions("sessions.read", "sessions.write")
    made = await found.create(ALICE, history=[say("I like blue."), say("Noted.", "assistant")])
    await talk(hermes, made.id, "What do I like?")
    assert await texts(found, made.id) == ["I like blue.", "Noted.", "What do I like?", "Blue."]
    assert [m.role for m in model.requests[0].messages] == ["system", "user", "assistant", "user"]


async def test_without_the_permission_nothing_is_read_or_changed(sessions: Any) -> None:
    reader = sessions("sessions.read")
    for change in (reader.create(ALICE), reader.fork(ALICE, "s"), reader.rename(ALICE, "s", "t")):
        with pytest.raises(NotPermitted):
            await change


async def test_nor_is_one_looked_at(sessions: Any) -> None:
    with pytest.raises(NotPermitted):
        await sessions("turns.run").get(ALICE, "s")
