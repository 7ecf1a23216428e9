"""Strangers and who let them in: limits that no restart, no clock and no crowd gets around."""

import asyncio
import hashlib
from pathlib import Path

import pytest
from attrs import evolve
from gateway_house import rows_of

from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Envelope, Message, Principal, Text
from hermes_platform_gateway.people import pairing
from hermes_platform_gateway.people.pairing import ALPHABET, approve, code_for
from hermes_platform_gateway.rows.people import HOUR, MOST_FAILURES, PAUSE
from hermes_platform_gateway.rows.values import Pairing

NOW = 1_000_000.0


def stranger(sender: str = "7", platform: str = "telegram", **more) -> Envelope:
    message = Message(role="user", parts=(Text(text="hi"),))
    return Envelope(platform=platform, account="bot", event_id="1", chat=sender, sender=sender, message=message, **more)


def code_in(words: str) -> str:
    return words.split("`")[1]


def waits(sender: str = "7", platform: str = "telegram") -> Pairing:
    return Pairing(platform=platform, sender=sender, salt="00", hash=f"hash of {sender}")


@pytest.fixture(autouse=True)
def cheap(monkeypatch):
    """Codes are dear to guess on purpose, which changes nothing here; the tests of the gateway pay the price."""
    dear = hashlib.scrypt
    monkeypatch.setattr(hashlib, "scrypt", lambda *text, **how: dear(*text, **{**how, "n": 2}))


@pytest.fixture
def clock(monkeypatch):
    """The clock that the store looks at; ``clock.now`` may be set."""

    class Clock:
        now = NOW

    monkeypatch.setattr(
        "hermes_platform_gateway.rows.people._now", lambda tx, given: Clock.now if given is None else given
    )
    return Clock


async def test_a_code_lets_its_stranger_in_once(store, clock):
    words = await code_for(rows_of(store), stranger(sender_name="Mia"))
    code = code_in(words)
    assert len(code) == 10
    assert set(code) <= set(ALPHABET)
    assert not set(ALPHABET) & set("0O1I")
    assert f"hermes gateway pair approve {code}" in words
    known = await approve(rows_of(store), f" {code[:4].lower()}-{code[4:]}", by="me", where="terminal")
    assert (known.platform, known.sender, known.person, known.role) == ("telegram", "7", "telegram:7", "user")
    assert (known.name, known.by, known.since) == ("Mia", "me", NOW)
    assert await rows_of(store).people.person("telegram", "7") == known
    assert await rows_of(store).people.person("matrix", "7") is None
    with pytest.raises(UnknownName):
        await approve(rows_of(store), code, by="me", where="terminal")
    [told] = await rows_of(store).outbox.due("telegram", "bot", NOW + HOUR)
    assert told.outgoing.chat.id == "7"
    assert told.outgoing.owner == Principal(person="telegram:7")


async def test_what_is_stored_does_not_tell_the_code(store, clock, tmp_path: Path):
    code = code_in(await code_for(rows_of(store), stranger()))
    [row] = await rows_of(store).people.pairings()
    assert code not in repr(row)
    assert len({row.salt, row.hash}) == 2
    store.close()
    assert not any(code.encode() in path.read_bytes() for path in tmp_path.glob("state.db*"))


async def test_as_whom_and_as_what(store, clock):
    for sender, person, admin, role in (
        ("1", "owner", False, "admin"),
        ("2", "anna", True, "admin"),
        ("3", "anna", False, "user"),
    ):
        code = code_in(await code_for(rows_of(store), stranger(sender)))
        known = await approve(rows_of(store), code, by="me", where="terminal", person=person, admin=admin)
        assert (known.person, known.role) == (person, role)
    assert [one.person for one in await rows_of(store).people.people()] == ["owner", "anna", "anna"]


@pytest.mark.parametrize("name", ["telegram:5", "telegram#-100", "Anna", "a b", "", " "])
async def test_nobody_is_let_in_under_a_name_that_could_be_an_account(store, clock, name):
    code = code_in(await code_for(rows_of(store), stranger()))
    if name:
        with pytest.raises(UserError, match="cannot be a person's name"):
            await approve(rows_of(store), code, by="me", where="terminal", person=name)
    assert (await approve(rows_of(store), code, by="me", where="terminal")).person == "telegram:7"


async def test_a_person_gets_one_code_in_ten_minutes(store, clock):
    first = await code_for(rows_of(store), stranger())
    clock.now += PAUSE - 1
    assert await code_for(rows_of(store), stranger()) == ""
    assert await code_for(rows_of(store), stranger("8")) != ""
    clock.now += 1
    second = await code_for(rows_of(store), stranger())
    assert second
    with pytest.raises(UnknownName):  # the new one takes the place of the old one
        await approve(rows_of(store), code_in(first), by="me", where="terminal")
    assert (await approve(rows_of(store), code_in(second), by="me", where="terminal")).sender == "7"


async def test_no_crowd_keeps_a_newcomer_out(store, clock):
    """Sock puppets that wait before and after somebody cost them neither their code nor their turn."""
    for n in range(60):
        assert await code_for(rows_of(store), stranger(f"puppet {n}"))
    code = code_in(await code_for(rows_of(store), stranger("mia")))
    for n in range(60, 120):
        assert await code_for(rows_of(store), stranger(f"puppet {n}"))
    assert (await approve(rows_of(store), code, by="me", where="terminal")).sender == "mia"
    clock.now += HOUR
    assert await rows_of(store).people.pairings() == []


async def test_where_very_many_wait_the_oldest_gives_way(store, clock, monkeypatch):
    monkeypatch.setattr("hermes_platform_gateway.rows.people.MOST_WAITING", 3)
    for n in range(5):
        assert await code_for(rows_of(store), stranger(str(n)))
    assert await code_for(rows_of(store), stranger(platform="matrix"))
    waiting = [(one.platform, one.sender) for one in await rows_of(store).people.pairings()]
    assert waiting == [("telegram", "2"), ("telegram", "3"), ("telegram", "4"), ("matrix", "7")]


async def test_however_many_wait_one_hash_is_made_for_a_try(store, clock, monkeypatch):
    codes = [code_in(await code_for(rows_of(store), stranger(str(n)))) for n in range(9)]
    made, plain = [], pairing._hash
    monkeypatch.setattr(pairing, "_hash", lambda code, salt: made.append(code) or plain(code, salt))
    assert (await approve(rows_of(store), codes[4], by="me", where="terminal")).sender == "4"
    assert len(made) == 1


async def test_who_guesses_locks_nobody_else_out(store, clock):
    code = code_in(await code_for(rows_of(store), stranger()))
    for _ in range(MOST_FAILURES + 1):
        with pytest.raises(UserError):
            await approve(rows_of(store), "WRONGWRONG", by="ben", where="telegram:2002")
    with pytest.raises(UserError, match="none is taken here"):
        await approve(rows_of(store), code, by="ben", where="telegram:2002")
    assert await approve(rows_of(store), code, by="owner", where="telegram:1001")


async def test_a_code_is_good_for_an_hour(store, clock):
    early, late = [code_in(await code_for(rows_of(store), stranger(sender))) for sender in "12"]
    clock.now += HOUR - 1
    await approve(rows_of(store), early, by="me", where="terminal")
    clock.now += 1
    with pytest.raises(UnknownName):
        await approve(rows_of(store), late, by="me", where="terminal")


@pytest.mark.parametrize("jump", [-HOUR, -86_400.0, 86_400.0])
async def test_a_clock_that_is_set_makes_no_code_better(store, clock, jump):
    code = code_in(await code_for(rows_of(store), stranger()))
    clock.now += jump
    with pytest.raises(UnknownName):
        await approve(rows_of(store), code, by="me", where="terminal")
    assert await code_for(rows_of(store), stranger())  # and shuts nobody out


async def test_five_wrong_codes_and_nobody_may_try_for_an_hour(reopen, clock):
    store = reopen()
    code = code_in(await code_for(rows_of(store), stranger()))
    for _ in range(MOST_FAILURES):
        with pytest.raises(UnknownName):
            await approve(rows_of(store), "WRONGWRO", by="me", where="telegram")
    store.close()
    store = reopen()  # a restart forgets nothing
    with pytest.raises(UserError, match="none is taken here for 60 minutes"):
        await approve(rows_of(store), code, by="me", where="telegram")
    assert await rows_of(store).people.people() == []
    clock.now += HOUR - 1
    with pytest.raises(UserError, match="for 1 minutes"):
        await approve(rows_of(store), code, by="me", where="telegram")
    clock.now += 1
    again = code_in(await code_for(rows_of(store), stranger()))
    assert await approve(rows_of(store), again, by="me", where="telegram")


async def test_one_place_that_is_locked_locks_no_other(store, clock):
    code = code_in(await code_for(rows_of(store), stranger()))
    for _ in range(MOST_FAILURES + 3):
        with pytest.raises(UserError):
            await approve(rows_of(store), "WRONGWRO", by="me", where="telegram")
    assert await approve(rows_of(store), code, by="me", where="terminal")


async def test_guesses_at_the_same_time_are_no_more_than_five(store, clock, monkeypatch):
    """All of them have compared their code before the first is counted: only five are told anything."""
    code = code_in(await code_for(rows_of(store), stranger()))
    monkeypatch.setattr(pairing, "_hash", lambda code, salt: code)
    [row] = await rows_of(store).people.pairings()
    await rows_of(store).people.forget_person("telegram", "7")
    await rows_of(store).people.ask_pairing(evolve(row, hash=code))
    guesses = [*(f"WRONG{n:03}".replace("0", "X").replace("1", "Y") for n in range(40)), code]
    told = await asyncio.gather(
        *(approve(rows_of(store), guess, by="me", where="telegram") for guess in guesses), return_exceptions=True
    )
    assert sum(isinstance(one, UnknownName) for one in told) == MOST_FAILURES
    assert await rows_of(store).people.people() == []


async def test_a_right_code_takes_the_wrong_ones_back(store, clock):
    for sender in "12":
        code = code_in(await code_for(rows_of(store), stranger(sender)))
        for _ in range(MOST_FAILURES - 1):
            with pytest.raises(UnknownName):
                await approve(rows_of(store), "WRONGWRO", by="me", where="terminal")
        await approve(rows_of(store), code, by="me", where="terminal")


async def test_a_lock_of_a_clock_that_was_ahead_ends_in_an_hour(store, clock):
    clock.now += 10 * 86_400
    for _ in range(MOST_FAILURES):
        await rows_of(store).people.pairing_tried("terminal", right=False)
    clock.now = NOW
    assert await rows_of(store).people.pairing_locked("terminal") == HOUR
    assert not await rows_of(store).people.pairing_tried("terminal", right=True)
    clock.now += HOUR
    assert await rows_of(store).people.pairing_tried("terminal", right=True)


async def test_who_is_revoked_is_a_stranger_again(store, clock):
    code = code_in(await code_for(rows_of(store), stranger()))
    await approve(rows_of(store), code, by="me", where="terminal")
    assert await rows_of(store).people.forget_person("telegram", "7")
    assert not await rows_of(store).people.forget_person("telegram", "7")
    assert await rows_of(store).people.person("telegram", "7") is None
    code = code_in(await code_for(rows_of(store), stranger()))
    assert await rows_of(store).people.forget_person("telegram", "7")
    with pytest.raises(UnknownName):
        await approve(rows_of(store), code, by="me", where="terminal")


async def test_two_approve_the_same_code_and_one_does(store, clock):
    code = code_in(await code_for(rows_of(store), stranger()))
    both = [approve(rows_of(store), code, by=by, where=by) for by in ("one", "other")]
    done = await asyncio.gather(*both, return_exceptions=True)
    assert sum(isinstance(one, UserError) for one in done) == 1
    assert len(await rows_of(store).people.people()) == 1


async def test_the_server_and_the_file_read_the_real_clock(store):
    assert await rows_of(store).people.ask_pairing(waits()) == ""
    assert await rows_of(store).people.ask_pairing(waits()) == "soon"
    [one] = await rows_of(store).people.pairings()
    assert one.expires - one.created == HOUR
