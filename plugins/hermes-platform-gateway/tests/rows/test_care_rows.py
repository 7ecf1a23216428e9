"""Who is kept from being heard, who is invited, what waits for the end of quiet hours: rows that a restart keeps."""

import asyncio
import time
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve
from gateway_house import rows_of

from hermes_core.errors import UserError
from hermes_core.types import Chat, Envelope, Message, Principal, Text
from hermes_platform_gateway.outward.outgoing import said
from hermes_platform_gateway.people.invites import invite, links, redeem, word_in
from hermes_platform_gateway.rows.values import Outgoing, QuietHours, Restriction
from hermes_tool_kit.hours import parse_hours, quiet_until

ANNA = Principal(person="anna")
ALWAYS = [("00:00", "12:00"), ("12:00", "00:00")]  # one of both is now


def says(text: str, sender: str = "7", **more) -> Envelope:
    message = Message(role="user", parts=(Text(text=text),), untrusted=more.pop("untrusted", False))
    return Envelope(
        platform="telegram", account="bot", event_id="1", chat=sender, sender=sender, message=message, **more
    )


def told(key: str, *, unasked: bool, chat: str = "c") -> Outgoing:
    known = {"platform": "p", "account": "bot", "chat": Chat(chat), "message": said(key)}
    return Outgoing(key=key, owner=ANNA, unasked=unasked, **known)


async def test_a_block_is_there_after_a_restart_and_counts_more_than_a_mute(reopen):
    store = reopen()
    rows = rows_of(store).restrictions
    await rows.put(Restriction(subject="anna", kind="mute", person="anna", by="me", until=9e9), ["telegram:7"])
    await rows.put(Restriction(subject="anna", person="anna", by="me"), ["telegram:7"])
    store.close()
    rows = rows_of(reopen()).restrictions
    assert (await rows.of("nobody", "telegram:7")).kind == (await rows.of("anna")).kind == "block"
    assert await rows.lift("anna", kind="block") == 2
    assert (await rows.of("anna")).kind == "mute"
    assert await rows.lift("telegram:7") == 1
    assert await rows.lift("anna") == 1
    assert await rows.of("anna", "telegram:7") is None


async def test_a_mute_ends_by_itself(store):
    rows = rows_of(store).restrictions
    await rows.put(Restriction(subject="anna", kind="mute", until=8e9), [])
    assert await rows.of("anna", now=7.9e9)
    assert await rows.of("anna", now=8e9) is None
    assert await rows.all(now=8e9) == []


async def test_an_invitation_lets_one_account_in_once(store):
    rows = rows_of(store)
    word, made = await invite(rows, "anna", seconds=3600, by="me")
    assert word not in repr(await rows.invites.waiting())
    assert made.person == "anna"
    both = await asyncio.gather(*(redeem(rows, word, says(word, sender)) for sender in "78"))
    [known] = [one for one in both if one]
    assert (known.person, known.role) == ("anna", "user")
    assert [one.sender for one in await rows.people.people()] == [known.sender]
    again = await redeem(rows, word, says(word, known.sender), again=True)  # delivered a second time
    assert evolve(again, since=known.since) == known
    assert await redeem(rows, word, says(word, "9"), again=True) is None
    assert await rows.invites.waiting() == []


async def test_an_invitation_to_somebody_new_gives_nobody_what_is_anothers(store):
    rows = rows_of(store)
    words = [(await invite(rows, "anna", seconds=3600, by="me", fresh=True))[0] for _ in range(2)]
    assert await redeem(rows, words[0], says("x", "7"))
    assert await redeem(rows, words[1], says("x", "8")) is None
    theirs, _ = await invite(rows, "anna", seconds=3600, by="the owner, at the terminal")
    assert (await redeem(rows, theirs, says("x", "8"))).person == "anna"


async def test_an_invitation_ends_and_can_be_taken_back(store):
    rows = rows_of(store)
    word, made = await invite(rows, "anna", seconds=60, by="me")
    assert await rows.invites.waiting(now=made.expires + 1) == []
    assert await rows.invites.withdraw("anna") == 1
    assert await redeem(rows, word, says(word)) is None
    for name, seconds in (("telegram:7", 60), ("Anna", 60), ("anna", 59), ("anna", 32 * 86_400)):
        with pytest.raises(UserError):
            await invite(rows, name, seconds=seconds, by="me")


def test_only_a_word_said_in_private_is_one():
    word = "ABCDE" * 3 + "2345Z"
    for text in (word, word.lower(), f"/start {word}", f"/start@bot {word}", "ABCDE-ABCDE-ABCDE-2345Z"):
        assert word_in(says(text)) == word
    for text in (word[:-1], f"{word}Z", f"my word is {word}", f"/new {word}", word.replace("Z", "0")):
        assert word_in(says(text)) == ""
    assert word_in(says(word, kind="group")) == word_in(says(word, untrusted=True)) == ""


def test_a_link_is_made_for_a_bot_of_telegram(store):
    class Known:
        platform, account = "telegram", "my_bot"

    assert links("WORD", [Known]) == ["https://t.me/my_bot?start=WORD"]


@pytest.mark.parametrize(("text", "hours"), [("22-7", ("22:00", "07:00")), ("9:30 to 10", ("09:30", "10:00"))])
def test_hours_are_read(text, hours):
    assert parse_hours(text) == hours


@pytest.mark.parametrize("text", ["", "22", "22-22", "25-7", "22:60-7", "at night"])
def test_what_says_no_hours_is_refused(text):
    with pytest.raises(UserError, match="says no hours"):
        parse_hours(text)


BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("now", "hours", "until"),
    [
        ("2026-06-01T23:00+02:00", ("22:00", "07:00"), "2026-06-02T07:00+02:00"),
        ("2026-06-02T06:59+02:00", ("22:00", "07:00"), "2026-06-02T07:00+02:00"),
        ("2026-06-02T07:00+02:00", ("22:00", "07:00"), ""),
        ("2026-06-01T21:59+02:00", ("22:00", "07:00"), ""),
        ("2026-06-01T13:30+02:00", ("13:00", "14:00"), "2026-06-01T14:00+02:00"),
        ("2026-03-28T23:00+01:00", ("22:00", "07:00"), "2026-03-29T07:00+02:00"),  # an hour is left out
        ("2026-03-29T01:59+01:00", ("01:00", "02:30"), "2026-03-29T03:00+02:00"),  # in it they would have ended
        ("2026-10-24T23:00+02:00", ("22:00", "07:00"), "2026-10-25T07:00+01:00"),  # an hour comes twice
        ("2026-10-25T02:10+01:00", ("02:00", "02:30"), "2026-10-25T02:30+01:00"),
    ],
)
def test_quiet_hours_end_when_the_clock_on_the_wall_says_so(now, hours, until):
    end = quiet_until(*hours, "Europe/Berlin", datetime.fromisoformat(now).timestamp())
    assert end == (datetime.fromisoformat(until).timestamp() if until else 0.0)


async def test_what_nobody_asked_for_waits_and_what_was_asked_for_passes_it(store):
    rows = rows_of(store)
    for begins, ends in ALWAYS:
        if quiet_until(begins, ends, "UTC", time.time()):
            await rows.quiet.set(QuietHours(person="anna", begins=begins, ends=ends, zone="UTC"))
    for key, unasked in (("job", True), ("answer", False), ("another", True)):
        await rows.outbox.send_later(told(key, unasked=unasked))
    await rows.outbox.send_later(evolve(told("other's", unasked=True), owner=Principal(person="ben"), chat=Chat("b")))
    now = time.time()

    async def due(at: float) -> list[str]:
        return [row.outgoing.key for row in await rows.outbox.due("p", "bot", at)]

    assert await due(now) == ["answer", "other's"]
    [answer] = await rows.outbox.outbox_of(key="answer")
    assert not await rows.outbox.waits_before(answer)
    assert (await rows.outbox.outbox_counts())["p", "bot", "held"] == 2
    assert now < await rows.outbox.next_due("p", "bot") or await rows.outbox.next_due("p", "bot") == 0
    assert await due(now + 86_400) == ["job", "other's"]  # in the order in which they came
    assert await rows.quiet.drop(ANNA)  # and when they are taken back, at once
    assert await due(now) == ["job", "other's"]


async def test_the_hours_of_a_chat_stand_in_it_for_those_of_its_person(store):
    rows = rows_of(store)
    now = time.time()
    [night] = [one for one in ALWAYS if quiet_until(*one, "UTC", now)]
    [day] = [one for one in ALWAYS if one != night]
    await rows.quiet.set(QuietHours(person="anna", begins=night[0], ends=night[1], zone="UTC"))
    await rows.quiet.set(QuietHours(person="anna", platform="p", chat="c", begins=day[0], ends=day[1], zone="UTC"))
    assert await rows.quiet.until(ANNA, "p", "c") == 0
    assert await rows.quiet.until(ANNA, "p", "d") > now
    assert [one.chat for one in await rows.quiet.of(ANNA)] == ["", "c"]
