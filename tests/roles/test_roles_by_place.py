"""Each role has in each place what it has, and nothing else: cell by cell."""

import json
from datetime import datetime
from typing import Any

import pytest
from speaking import PLACES, House, Vendor

from hermes_core import hookimpl
from hermes_core.errors import UserError
from hermes_core.types import Principal, Session, Speaker, TurnOrder

NEVER = [f"{datetime.now().astimezone():%a} 00:00-00:01", "Mon-Sun 00:00-00:01"]
SETTINGS = {
    "roles.backend": "far",
    "roles.people": {
        "mia": "member",
        "talker": "talker",
        "small": "small",
        "local": "local",
        "night": "night",
        "poor": "poor",
        "reader": "reader",
        "out": "blocked",
        "sailor": "near",
    },
    "roles.define": {
        "talker": {"tools": ["talk", "delegate"]},
        "small": {"models": ["vendor:small", "vendor:t*"]},
        "local": {"hosts": ["*.wikipedia.org"]},
        "night": {"hours": NEVER, "zone": "UTC"},
        "poor": {"day": {"calls": 3}},
        "reader": {"files": "read", "commands": "never"},
        "near": {"backend": "near", "commands": "machine"},
    },
}


def call(name: str, **arguments: Any) -> str:
    return f"CALL {name} {json.dumps(arguments)}"


LOOK, ELSEWHERE = call("look", host="en.wikipedia.org"), call("look", host="example.com")
WRITE, RUN, NOTE = call("write", path="x"), call("run", command="x"), call("note")

# who, what is called, what was done by it (nothing: it was refused)
CELLS = [
    ("mia", NOTE, ["note"]),
    ("mia", ELSEWHERE, ["look example.com"]),
    ("mia", WRITE, ["write x"]),
    ("mia", call("write", path="/etc/x"), []),
    ("mia", RUN, []),
    ("talker", NOTE, ["note"]),
    ("talker", LOOK, []),
    ("talker", WRITE, []),
    ("talker", RUN, []),
    ("local", LOOK, ["look en.wikipedia.org"]),
    ("local", ELSEWHERE, []),
    ("local", RUN, []),
    ("reader", WRITE, []),
    ("reader", RUN, []),
    ("reader", LOOK, ["look en.wikipedia.org"]),
    ("night", NOTE, []),
    ("out", NOTE, []),
    ("stranger", NOTE, ["note"]),
    ("stranger", RUN, []),
]


@pytest.mark.parametrize("place", PLACES)
async def test_what_is_called_is_done_or_not(house: House, place: str) -> None:
    house.hermes.configure(SETTINGS)
    wrong = []
    for who, what, done in CELLS:
        house.did.clear()
        if place == "child" and who == "stranger":
            continue  # it has none
        told, failed = await house.say(place, who, what, named=who != "stranger")
        if house.did != done:
            wrong.append((who, what, done, house.did[:], told, failed))
    assert wrong == []


@pytest.mark.parametrize("place", PLACES)
async def test_commands_run_where_the_role_says(house: House, place: str) -> None:
    house.hermes.configure(SETTINGS)
    await house.say(place, "sailor", RUN)
    near = "far" if place == "thread" else "near"  # of a conversation that many share it is everybody's
    assert house.did == [f"run x on {near}"]
    assert [question.to for question in house.asked] == ["admin"]


@pytest.mark.parametrize("place", PLACES)
async def test_the_models_of_a_role_answer_and_no_other(house: House, place: str) -> None:
    house.hermes.configure(SETTINGS)
    await house.say(place, "small", "hello" if place != "child" else "CALL note {}")
    assert set(house.vendor.answered) == {"small"}
    house.vendor.answered.clear()
    await house.say(place, "mia", "hello" if place != "child" else "CALL note {}")
    assert set(house.vendor.answered) == {"big"}


@pytest.mark.parametrize("place", PLACES)
async def test_outside_of_its_hours_and_to_the_blocked_nothing_is_spent(house: House, place: str) -> None:
    house.hermes.configure(SETTINGS)
    for who, words in (("night", "nothing is done then for the role night. Its hours:"), ("out", "Nothing is done")):
        _, failed = await house.say(place, who, "hello")
        assert words in failed
    assert house.vendor.answered == []


@pytest.mark.parametrize("place", PLACES)
async def test_a_day_of_calls_is_one_day_in_all_places(house: House, place: str) -> None:
    house.hermes.configure(SETTINGS)
    await house.say("direct", "poor", "hello")
    await house.say("group", "poor", "hello", chat="8")
    await house.say("thread", "poor", "hello", chat="9")
    assert len(house.vendor.answered) == 3
    _, failed = await house.say(place, "poor", "hello", chat="10")
    assert "3 of 3 model calls, which is what the role poor has a day, in all places" in failed
    assert len(house.vendor.answered) == 3
    _, failed = await house.say(place, "mia", "hello", chat="10")
    assert failed == "", "others have their own"


async def test_what_is_said_in_a_group_counts_for_who_said_it(house: House) -> None:
    house.hermes.configure(SETTINGS)
    for who in ("mia", "owner", "poor", "mia"):
        await house.say("thread", who, "hello")
    store = await house.hermes.runtime.store()
    calls = {who: (await store.spending.spent(Principal(person=who))).usage.calls for who in ("mia", "owner", "poor")}
    assert calls == {"mia": 2, "owner": 1, "poor": 1}
    assert (await store.spending.spent(Principal(person="room#7"))).usage.calls == 0


async def test_strangers_in_a_group_count_for_who_opened_it(house: House) -> None:
    house.hermes.configure({**SETTINGS, "roles.define": {**SETTINGS["roles.define"], "guest": {"day": {"calls": 2}}}})
    await house.say("group", "poor", "hello", chat="hers")  # it was hers from then on
    for number in range(3):
        await house.say("group", f"s{number}", "hello", named=False, chat="hers")
    assert len(house.vendor.answered) == 3, "hers, and two of strangers: she has three"
    _, failed = await house.say("direct", "poor", "hello")
    assert "3 of 3 model calls" in failed
    house.vendor.answered.clear()
    for number in range(3):  # a group that nobody opened has one day for all strangers in it
        await house.say("group", f"t{number}", "hello", named=False, chat="open")
    assert len(house.vendor.answered) == 2
    await house.say("group", "room#open", "hello", named=False, chat="open")  # who hides behind it
    assert len(house.vendor.answered) == 2


async def test_a_role_that_is_taken_away_is_gone_for_what_waits(hermes: Any, tmp_path: Any) -> None:
    from hermes_core.testing.bench import Bench

    for number, role in enumerate(("member", "talker", "blocked")):
        again = Bench(tmp_path / "home")
        house = House(again)
        again.configure({**SETTINGS, "roles.people": {"mia": role}})
        async with again:
            if number == 0:
                for session in ("one", "two"):
                    _, envelope = house.came(WRITE, "mia", "direct", named=True, chat="7")
                    await again.runtime.turns.queue(
                        session, envelope.message, owner=Principal(person="mia"), origin="room", envelope=envelope
                    )
                continue
            session = ("one", "two")[number - 1]
            events = [e async for e in again.runtime.turns.follow(session, owner=Principal(person="mia"))]
            assert events
            assert house.did == []
            assert bool(house.vendor.answered) is (role == "talker")


async def test_nobody_but_the_owner_does_anything_while_roles_cannot_be_read(house: House) -> None:
    runtime = house.hermes.runtime
    runtime._find_roles().config = None
    runtime.dispatch._strict = False
    _, failed = await house.say("direct", "mia", NOTE)
    assert "nobody but the owner may do anything" in failed
    _, failed = await house.say("api", "owner", NOTE)
    assert failed == ""
    assert house.did == ["note"]
    assert any(fault.plugin == "roles" for fault in runtime.dispatch.faults)


async def test_without_the_plugin_people_talk_and_no_more(hermes: Any) -> None:
    from hermes_core.kinds import tool

    did = []

    @tool(touches=lambda _: ())
    async def note() -> str:
        """Note something."""
        did.append("note")
        return "noted"

    vendor = Vendor()
    hermes.tmp_plugin(vendor)
    hermes.tmp_plugin(note)
    anna = Principal(person="anna")
    events = [e async for e in hermes.runtime.turns.run("CALL note {}", owner=anna)]
    assert events[-1].answer == "I am ." or "I am" in events[-1].answer
    assert did == []
    rights = hermes.runtime.guests.rights(anna, Speaker(person="anna"))
    assert rights.words == ("You may talk, and no more.",)


@hookimpl
async def on_session_start(ctx: Any, session: Session) -> None:
    """It has hooks, and so a context."""


@pytest.mark.parametrize(("who", "did"), [("", ["look en.wikipedia.org"]), ("talker", [])])
async def test_what_a_plugin_orders_in_a_group_is_judged_by_who_asked(house: House, who: str, did: list[str]) -> None:
    hermes = house.hermes
    hermes.configure(SETTINGS)
    label = hermes.tmp_plugin(on_session_start, name="rota", manifest={"permissions": {"kernel": ["turns.run"]}})
    group = Principal(person="room#7")
    turns = hermes.runtime.plugin_context(hermes.runtime.index.get(label)).turns
    speaker = Speaker(person=who, named=True) if who else None
    session = await turns.queue(LOOK, owner=group, order=TurnOrder(event="e1", speaker=speaker))
    [waiting] = await (await hermes.runtime.store()).inbox.waiting(session)
    assert waiting.envelope.speaker == speaker, "it lasts with the order"
    async for _ in hermes.runtime.turns.follow(session, owner=group, ask=house.ask):
        pass
    assert house.did == did
    with pytest.raises(UserError, match="Nothing is done for you"):
        await turns.queue(LOOK, owner=group, order=TurnOrder(speaker=Speaker(person="out", named=True)))
