"""A message that waits is taken once, by whoever comes first, and only in the commit that uses it."""

import asyncio

import pytest
from attrs import evolve

from hermes_core.errors import Duplicate, UnknownName
from hermes_core.store.inbox import address_from_json, address_to_json
from hermes_core.store.leases import Busy, Turn
from hermes_core.store.store import Store
from hermes_core.store.validity import NOT_RUN
from hermes_core.types import Blob, Envelope, Message, Principal, Session, Text, ToolCall, ToolResult, Usage

ME, YOU = Principal(), Principal(person="you")
ID, OTHER = "20260101_000000_aaaaaa", "20260101_000000_bbbbbb"
CALL = ToolCall(id="c1", name="ls", arguments={})


def user(text: str = "hello", **more: object) -> Message:
    return Message(role="user", parts=(Text(text=text),), **more)


def came(event: str, text: str = "hello", **more: object) -> Envelope:
    return Envelope(platform="irc", account="a", event_id=event, chat="c", sender="s", message=user(text), **more)


@pytest.fixture(autouse=True)
async def sessions(store: Store) -> None:
    for name, owner in ((ID, ME), (OTHER, YOU)):
        await store.sessions.create(Session(id=name, origin="cli", owner=owner))


async def waits(store: Store, event: str, text: str = "", *, mode: str = "queue", session: str = ID, **more) -> None:
    envelope = came(event, text or event)
    await store.inbox.wait(session, more.pop("message", envelope.message), mode=mode, envelope=envelope, **more)


async def begun(store: Store, turn_id: str = "t1", *, waited: int = 0, session: str = ID, **more) -> Turn:
    given = {"turn_id": turn_id, "holder": "test", "provider": "p", "model": "m", **more}
    return await store.journal.open_turn(session, user(turn_id), waited=waited, **given)


async def asks(store: Store, turn: Turn, call: ToolCall = CALL) -> None:
    """The model makes a call."""
    await store.journal.add_reply(turn, Message(role="assistant", parts=(call,)), Usage(), "tools")


async def finished(store: Store, turn: Turn, *, untrusted: bool = False) -> ToolResult:
    result = ToolResult(call_id="c1", name="ls", parts=(Text(text="done"),), untrusted=untrusted)
    return await store.journal.finish_call(turn, CALL, result, outcome="ok", seconds=0.0)


def texts(result: ToolResult) -> list[str]:
    return [part.text for part in result.parts if isinstance(part, Text)]


async def events(store: Store, session: str = ID) -> list[tuple[str, str]]:
    found = await store.inbox.waiting(session)
    return [(one.envelope.event_id if one.envelope else "", one.mode) for one in found]


async def test_what_waits_is_read_as_it_came_in_the_order_it_came(store: Store) -> None:
    address = came("1", "first", sender_name="Mia", thread="t", message_id="9", roles=("a", "b"))
    await store.inbox.wait(ID, user("changed"), mode="steer", envelope=address, trace="abc")
    await waits(store, "2")
    first, second = await store.inbox.waiting(ID)
    assert first.envelope == evolve(address, message=user("changed"))
    assert (first.message, first.mode, first.trace) == (user("changed"), "steer", "abc")
    assert (second.mode, second.trace, first.id < second.id) == ("queue", "", True)
    assert await store.inbox.waiting(OTHER) == []


async def test_the_second_to_take_a_message_gets_nothing_and_writes_nothing(store: Store) -> None:
    await waits(store, "1")
    [one] = await store.inbox.waiting(ID)
    await store.journal.close_turn(await begun(store, waited=one.id), state="done")
    assert await store.inbox.waiting(ID) == []
    before = await store.history.messages(ME, ID)
    with pytest.raises(Duplicate, match="has had its turn"):
        await begun(store, "t2", waited=one.id)
    assert await store.history.messages(ME, ID) == before
    await begun(store, "t3")


async def test_of_many_who_take_it_at_the_same_time_one_does(store: Store, reopen) -> None:
    await waits(store, "1")
    [one] = await store.inbox.waiting(ID)
    await store.sessions.create(Session(id="third", origin="cli", owner=ME))
    stores = [store, reopen()]
    tries = [begun(stores[n % 2], f"t{n}", waited=one.id, session=(ID, "third")[n % 2]) for n in range(6)]
    done = await asyncio.gather(*tries, return_exceptions=True)
    assert sum(isinstance(each, Turn) for each in done) == 1
    assert {type(each) for each in done} <= {Turn, Duplicate, Busy}


async def test_who_finds_the_session_busy_leaves_the_message_where_it_is(store: Store) -> None:
    await waits(store, "1")
    [one] = await store.inbox.waiting(ID)
    turn = await begun(store)
    with pytest.raises(Busy):
        await begun(store, "t2", waited=one.id)
    assert await store.inbox.waiting(ID) == [one]
    await store.journal.close_turn(turn, state="done")
    await begun(store, "t2", waited=one.id)
    assert await store.inbox.waiting(ID) == []


async def test_a_message_that_was_dropped_has_no_turn_any_more(store: Store) -> None:
    await waits(store, "1")
    await waits(store, "2", mode="steer")
    await waits(store, "3", session=OTHER)
    [one, _] = await store.inbox.waiting(ID)
    assert await store.inbox.drop(ID) == 2
    assert await store.inbox.drop(ID) == 0
    assert await store.inbox.waiting(ID) == []
    assert len(await store.inbox.waiting(OTHER)) == 1
    with pytest.raises(Duplicate):
        await begun(store, waited=one.id)


async def test_the_same_message_waits_once_and_opens_no_turn_beside(store: Store) -> None:
    await waits(store, "1")
    for again in (waits(store, "1"), waits(store, "1", mode="steer"), begun(store, envelope=came("1"))):
        with pytest.raises(Duplicate, match="irc/a/1 was received before"):
            await again
    assert await events(store) == [("1", "queue")]
    turn = await begun(store, envelope=came("2"))
    with pytest.raises(Duplicate):
        await waits(store, "2")
    await store.journal.close_turn(turn, state="done")


async def test_the_same_number_from_another_account_is_another_message(store: Store) -> None:
    await waits(store, "1")
    for other in (evolve(came("1"), account="b"), evolve(came("1"), platform="matrix")):
        await store.inbox.wait(ID, user(), mode="queue", envelope=other)
    assert len(await store.inbox.waiting(ID)) == 3


async def test_what_is_for_a_session_that_is_not_there_is_not_kept(store: Store) -> None:
    with pytest.raises(UnknownName):
        await waits(store, "1", session="nowhere")
    await waits(store, "1")


# --- with the next result ---------------------------------------------------------------------------------------------


async def test_what_steers_stands_below_one_result_and_what_queues_does_not(store: Store) -> None:
    turn = await begun(store)
    await asks(store, turn)
    await waits(store, "1", "look left", mode="steer")
    await waits(store, "2", "a turn of its own")
    await waits(store, "3", "and right", mode="steer")
    await waits(store, "4", "elsewhere", mode="steer", session=OTHER)
    notes = [f"\n\n<note-from-user>\n{words}\n</note-from-user>" for words in ("look left", "and right")]
    assert texts(await finished(store, turn)) == ["done", *notes]
    assert await events(store) == [("2", "queue")]
    assert await events(store, OTHER) == [("4", "steer")]
    second = evolve(CALL, id="c2")
    await asks(store, turn, second)
    plain = ToolResult(call_id="c2", name="ls", parts=(Text(text="more"),))
    assert texts(await store.journal.finish_call(turn, second, plain, outcome="ok", seconds=0.0)) == ["more"]


@pytest.mark.parametrize(
    ("result", "said", "both"), [(False, False, False), (True, False, True), (False, True, True), (True, True, True)]
)
async def test_a_result_comes_from_outside_when_it_or_a_word_below_it_does(store, result, said, both) -> None:
    turn = await begun(store)
    await asks(store, turn)
    await waits(store, "1", mode="steer", message=user("look", untrusted=said))
    await waits(store, "2", mode="steer", message=user("again"))
    assert (await finished(store, turn, untrusted=result)).untrusted is both
    assert (await store.history.load(ID))[-1].untrusted is both


async def test_files_that_come_along_are_kept_and_nothing_is_added_where_nothing_waits(store: Store) -> None:
    file = Blob(media_type="image/png", data=b"x", name="a.png")
    turn = await begun(store)
    await asks(store, turn)
    await waits(store, "1", mode="steer", message=Message(role="user", parts=(Text(text="see"), file, Text(text="!"))))
    stored = await finished(store, turn)
    assert texts(stored) == ["done", "\n\n<note-from-user>\nsee!\n</note-from-user>"]
    assert [part.name for part in stored.parts if isinstance(part, Blob)] == ["a.png"]


async def test_a_turn_that_ends_leaves_what_steers_it_for_the_next(store: Store) -> None:
    turn = await begun(store)
    await asks(store, turn)
    await waits(store, "1", mode="steer")
    await store.journal.close_turn(turn, state="interrupted")
    assert NOT_RUN in texts((await store.history.load(ID))[-1].parts[0])
    assert await events(store) == [("1", "steer")]


def test_what_is_kept_of_an_envelope_is_read_by_a_version_that_knows_less_of_it() -> None:
    envelope = came("1", "words", thread="t")
    text = address_to_json(envelope)
    assert "words" not in text
    assert address_from_json(text, user("words")) == envelope
    assert address_from_json(text.replace("{", '{"unheard_of": 1, ', 1), user("words")) == envelope


async def test_what_steers_waits_on_where_the_model_was_told_the_result_already(store: Store) -> None:
    turn = await begun(store)
    await asks(store, turn)
    await waits(store, "1", "look left", mode="steer")
    told = ToolResult(call_id="c1", name="ls", parts=(Text(text="done"),))
    kept = await store.journal.finish_call(turn, CALL, told, outcome="ok", seconds=0.0, steers=False)
    assert kept == told
    assert await events(store) == [("1", "steer")]
    second = evolve(CALL, id="c2")
    await asks(store, turn, second)
    plain = ToolResult(call_id="c2", name="ls", parts=(Text(text="more"),))
    result = await store.journal.finish_call(turn, second, plain, outcome="ok", seconds=0.0)
    assert texts(result) == ["more", "\n\n<note-from-user>\nlook left\n</note-from-user>"]
