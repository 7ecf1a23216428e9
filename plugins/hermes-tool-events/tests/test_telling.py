"""What is told of turns and questions, to whom, how often: by a whole kernel, to real servers."""

import json
from typing import Any

import pytest
from attrs import evolve
from standardwebhooks.webhooks import Webhook

import hermes_tool_events
from hermes_core.testing.leftovers import Traces
from hermes_core.types import Approval
from hermes_tool_events.config import TargetSettings
from hermes_tool_events.telling import PAUSES

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYqr"
OPS = {"secret": "env:EVENTS_SECRET_OPS", "private": True}


async def test_the_end_of_a_turn_is_told_and_the_library_of_the_standard_verifies_it(
    house: Any, scripted: Any, listener: Any
) -> None:
    made = house(scripted("It is late."), {"ops": {"to": listener.url, **OPS}})
    await made.say("What time is it?")
    await made.service.round()
    await made.service.round()
    ((headers, body),) = listener.heard
    told = Webhook(SECRET).verify(body, headers)
    assert told["type"] == "turn.done"
    assert told["timestamp"].endswith("Z")
    data = told["data"]
    assert (data["session"], data["origin"], data["person"], data["error"]) == ("s", "telegram", "owner", "")
    assert (data["calls"], data["turn"] != "") == (1, True)
    assert b"late" not in body, "what was said is told where a target says so"
    assert [one.state for one in await made.rows.log()] == ["done"]


async def test_what_was_answered_is_told_where_a_target_wants_it_without_secrets(
    house: Any, scripted: Any, listener: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "correct-horse-battery-7351")
    targets = {
        "phone": {"kind": "ntfy", "to": listener.url, "secret": "env:EVENTS_TOKEN", "private": True, "text": True}
    }
    made = house(scripted("It is correct-horse-battery-7351, and it rains."), targets)
    await made.say("Tell me.")
    await made.service.round()
    ((headers, body),) = listener.heard
    assert (headers["title"], headers["authorization"]) == ("Hermes is done", "Bearer tk_1234567890")
    assert "it rains" in body.decode()
    assert "7351" not in body.decode()


async def test_a_mail_is_told_by_a_real_server(house: Any, scripted: Any, mailbox: Any) -> None:
    mail = {"host": "127.0.0.1", "port": mailbox.server.port, "security": "none", "sender": "hermes@example.org"}
    made = house(scripted("Grüße."), {"me": {"kind": "email", "to": "me@example.org", "text": True}}, mail=mail)
    await made.say("Hello.")
    await made.service.round()
    (envelope,) = mailbox.mails
    assert (envelope.mail_from, envelope.rcpt_tos) == ("hermes@example.org", ["me@example.org"])
    assert b"Subject: Hermes is done" in envelope.content
    (row,) = await made.rows.log()
    assert row.event.removeprefix("evt_")[:32].encode() in envelope.content


async def test_each_is_told_what_it_wants(house: Any, scripted: Any, listener: Any) -> None:
    targets = {
        "failures": {"to": listener.url, "events": ["turn.failed"], **OPS},
        "jobs": {"to": listener.url, "origins": ["cron"], **OPS},
        "turns": {"to": listener.url, "events": ["turn.*"], **OPS},
    }
    made = house(scripted("One.", RuntimeError("no")), targets)
    await made.say("1")
    await made.say("2", session="t", origin="cron")
    await made.service.round()
    told = sorted((one.target, one.name) for one in await made.rows.log())
    wanted = [("failures", "turn.failed"), ("jobs", "turn.failed"), ("turns", "turn.done"), ("turns", "turn.failed")]
    assert told == wanted


async def test_a_turn_that_died_before_it_said_that_it_is_over_is_told_of(
    house: Any, scripted: Any, listener: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = house(scripted("One."), {"ops": {"to": listener.url, **OPS}})

    async def dies(*_: Any) -> None:
        """The process ended here."""

    monkeypatch.setattr(type(made.rows), "over", dies)
    await made.say("1")
    await made.service.round()
    assert listener.heard == [], "it may run still"
    again = type(made.service)(made.service.ctx)
    await again.round(lost=0.000_001)
    assert len(listener.heard) == 1
    assert await made.rows.unsettled(1e-6) == []


async def test_what_fails_is_tried_again_then_dead_and_told_again_when_a_person_says_so(
    house: Any, scripted: Any, listener: Any
) -> None:
    made = house(scripted("One."), {"ops": {"to": listener.url, **OPS}})
    listener.status = 503
    await made.say("1")
    for number in range(1, len(PAUSES) + 1):
        await made.service.round()
        (row,) = await made.rows.log()
        assert (row.state, row.tries, row.note) == ("waiting", number, "It answered with 503.")
        assert row.due > row.created + PAUSES[number - 1] - 1
        await made.service.round()
        assert listener.tries == number, "it waits"
        await _now(made, row.id)
    await made.service.round()
    assert [one.state for one in await made.rows.log("dead")] == ["dead"]
    assert "1 dead" in await made.service.status()
    listener.status = 200
    assert await made.rows.again() == 1
    await made.service.round()
    assert len(listener.heard) == 1
    assert await made.service.status() == ""


async def _now(made: Any, number: int) -> None:
    import sqlalchemy as sa

    from hermes_tool_events.rows import told

    await made.service.ctx.store.transact(
        lambda tx: tx.execute(sa.update(told).where(told.c.id == number).values(due=0))
    )


@pytest.mark.parametrize(
    ("target", "status", "note"),
    [
        ({"private": False}, 200, "127.0.0.1"),
        ({"secret": ""}, 200, "secret"),
        ({"secret": "env:EVENTS_UNSET"}, 200, "secret"),
        ({"to": "http://169.254.169.254/latest"}, 200, "169.254"),
        ({"to": "ftp://example.org/"}, 200, ""),
        ({"to": ""}, 200, "where it goes"),
        ({}, 410, "gone"),
        ({"kind": "email", "to": "me@example.org"}, 200, "No server"),
    ],
)
async def test_what_can_never_be_told_is_dead_at_once_and_says_why(
    house: Any, scripted: Any, listener: Any, target: Any, status: int, note: str
) -> None:
    listener.status = status
    made = house(scripted("One."), {"ops": {"to": listener.url, **OPS, **target}})
    await made.say("1")
    await made.service.round()
    (row,) = await made.rows.log()
    assert (row.state, note in row.note) == ("dead", True), row.note
    assert listener.heard == []


async def test_no_redirect_is_followed(house: Any, scripted: Any, listener: Any) -> None:
    listener.status = 302
    made = house(scripted("One."), {"ops": {"to": listener.url, **OPS}})
    await made.say("1")
    await made.service.round()
    (row,) = await made.rows.log()
    assert (row.state, listener.tries) == ("waiting", 1)
    assert "leads elsewhere" in row.note


async def test_a_server_that_is_away_is_told_later(house: Any, scripted: Any) -> None:
    mail = {"host": "127.0.0.1", "port": 9, "security": "none"}
    targets = {"ops": {"to": "http://127.0.0.1:8/", **OPS}, "me": {"kind": "email", "to": "me@example.org"}}
    made = house(scripted("One."), targets, mail=mail)
    await made.say("1")
    await made.service.round()
    assert {(one.state, one.tries) for one in await made.rows.log()} == {("waiting", 1)}


async def test_a_question_that_waits_is_told_once(house: Any, scripted: Any, listener: Any) -> None:
    made = house(scripted("One."), {"ops": {"to": listener.url, "events": ["question.*"], "text": True, **OPS}})
    await made.say("1")
    ctx = made.service.ctx
    session = await ctx.sessions.get(ctx.owner, "s")
    question = Approval(id="q1", session_id="s", subject="$ rm -r build", risk="deletes", choices=("once", "deny"))
    await ctx.approvals.ask(session, question)
    for _ in range(3):
        await made.service.round()
    ((headers, body),) = listener.heard
    told = Webhook(SECRET).verify(body, headers)
    assert (told["type"], told["data"]["subject"], told["data"]["risk"]) == (
        "question.asked",
        "$ rm -r build",
        "deletes",
    )


async def test_a_terminal_shows_its_turns_by_itself(house: Any, scripted: Any, listener: Any) -> None:
    made = house(scripted("One."), {"ops": {"to": listener.url, **OPS}}, serves=False)
    await made.say("1")
    await made.service.round()
    assert await made.rows.log() == []
    await hermes_tool_events.on_gateway_start(made.service.ctx)
    assert made.service.ctx.state["serves"]


async def test_nothing_is_written_where_nobody_is_told(house: Any, scripted: Any) -> None:
    made = house(scripted("One."), {})
    await made.say("1")
    await made.service.run()
    assert "rows" not in made.service.ctx.state


async def test_the_service_tells_by_itself_and_ends_when_it_is_stopped(
    house: Any, scripted: Any, listener: Any
) -> None:
    import asyncio

    made = house(scripted("One."), {"ops": {"to": listener.url, **OPS}})
    before = Traces.now()
    running = asyncio.create_task(made.service.run())
    await made.say("1")
    async with asyncio.timeout(20):
        while not listener.heard:
            await asyncio.sleep(0.02)
    running.cancel()
    await asyncio.wait([running])
    assert running.cancelled()
    assert not [one for one in await before.left() if "events" in one]


async def test_the_commands_say_who_is_told_and_what_became_of_it(
    house: Any, scripted: Any, listener: Any, capsys: Any
) -> None:
    from hermes_core.errors import UnknownName

    made = house(scripted("One."), {"ops": {"to": listener.url, **OPS}, "gone": {"to": "", **OPS}})
    await made.say("1")
    await made.service.round()
    assert "ops" in await made.bench.command("events list")
    await made.bench.command("events test", "ops")
    assert [json.loads(body)["type"] for _, body in listener.heard] == ["turn.done", "test"]
    assert "gone" in await made.bench.command("events log", "--dead")
    assert "done" in await made.bench.command("events log", "--json")
    await made.bench.command("events again", "all")
    assert [one.state for one in await made.rows.log("waiting")] == ["waiting"]
    with pytest.raises(UnknownName):
        await made.bench.command("events again", "999")
    with pytest.raises(UnknownName):
        await made.bench.command("events test", "nobody")


async def test_in_quiet_hours_it_waits_and_goes_when_they_end(house: Any, scripted: Any, listener: Any) -> None:
    from datetime import UTC, datetime, timedelta

    now = datetime.now(UTC)
    quiet, loud = ((now + timedelta(hours=n)).strftime("%H:00") for n in (0, 2))
    later = (now + timedelta(hours=4)).strftime("%H:00")
    targets = {
        "night": {"to": listener.url, **OPS, "quiet": f"{quiet}-{loud} UTC"},
        "day": {"to": listener.url, **OPS, "quiet": f"{loud}-{later} UTC"},
    }
    made = house(scripted("It is late."), targets)
    await made.say("What time is it?")
    await made.service.round()
    await made.service.round()
    assert len(listener.heard) == 1
    rows = {one.target: one for one in await made.rows.log()}
    assert (rows["day"].state, rows["night"].state) == ("done", "waiting")
    assert rows["night"].note == "held for quiet hours"
    assert rows["night"].tries == 0
    assert 3600 - 60 < rows["night"].due - now.timestamp() <= 7200
    await made.rows.held(rows["night"].id, 0.0)  # as it is when they have ended
    made.service._config.targets["night"] = evolve(made.service._config.targets["night"], quiet="")
    await made.service.round()
    assert [one.state for one in await made.rows.log()] == ["done", "done"]
    assert len(listener.heard) == 2


@pytest.mark.parametrize("text", ["22-7", "22:00-07:00", "9:30-17:00 Europe/Berlin", "0-23:59 Etc/GMT+5", ""])
def test_quiet_hours_are_read(text: str) -> None:
    assert TargetSettings(quiet=text).quiet == text


@pytest.mark.parametrize("text", ["25-7", "22", "at night", "22:00-07:60", "22-7 \n"])
def test_what_says_no_hours_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="quiet"):
        TargetSettings(quiet=text)
