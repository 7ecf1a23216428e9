"""An owner, an admin, guests and strangers: who is kept from being heard, who comes by invitation, who sees what."""

import asyncio
import re
from typing import Any

import pytest
from gateway_house import context_of, rows_of
from gateway_phones import ANNA, OWNER, house, serving

from hermes_core.errors import UserError
from hermes_core.kinds import Jobs
from hermes_core.types import Job, Principal, Session
from hermes_platform_gateway.outward.outgoing import said
from hermes_platform_gateway.rows.values import QuietHours

BEN = "ben"
PEOPLE: dict[str, Any] = {"gateway.allowed_users": [ANNA, BEN], "gateway.admins": [f"room:{BEN}"]}


async def test_an_admin_mutes_and_blocks_by_reply_and_a_guest_cannot(hermes, scripted):
    house(hermes, **PEOPLE, **{"platforms.room.allowed_chats": ["group"]})
    hermes.tmp_plugin(scripted("Hello Anna.", "Hello all.", "Hello again."))
    group = {"chat": "group", "kind": "group"}
    async with serving(hermes) as phones:
        phones.write(ANNA, "Hi!")
        await phones.last(ANNA, "Hello Anna.")
        for text in ("/people", f"/people block {BEN}", "/people mute owner 1h"):
            phones.write(ANNA, text)
        await phones.last(ANNA, "There is no command /people.")
        phones.write(BEN, "/people mute 1h", quote="Hi!", quote_by=ANNA, **group)
        await phones.last("group", "room:anna: muted until")
        phones.write(ANNA, "Can you hear me?")
        phones.write(ANNA, "And now?")
        await phones.last(ANNA, "You are muted until")
        phones.write(BEN, f"/people unmute {ANNA}", **group)
        await phones.last("group", "room:anna is heard again.")
        phones.write(ANNA, "And now, again?")
        await phones.last(ANNA, "Hello all.")
        phones.write(BEN, f"/people block {ANNA}")
        await phones.last(BEN, "room:anna: blocked by room:ben.")
        told = len(phones.got[ANNA])
        phones.write(ANNA, "Hello?")
        phones.write(ANNA, "Hello?", **group)
        for text, answer in (
            (f"/people block {BEN}", "You cannot block or mute yourself."),
            ("/people block owner", "The owner of this Hermes is never blocked or muted."),
            ("/people mute 1h", "Say who, or answer a message of theirs."),
            ("/people mute anna soon", "'soon' is no length of time."),
        ):
            phones.write(BEN, text)
            await phones.last(BEN, answer)
        phones.write(OWNER, f"/people block {BEN}")
        await phones.last(OWNER, "room:ben: blocked by owner.")
        phones.write(OWNER, "Hi!")
        await phones.last(OWNER, "Hello again.")
        assert len(phones.got[ANNA]) == told, "who is blocked hears nothing"
        assert sum("You are muted" in text for text in phones.got[ANNA]) == 1, "who is muted hears so once"


async def test_what_people_spend_is_shown_and_never_what_they_say(hermes, scripted):
    house(hermes, **PEOPLE)
    hermes.tmp_plugin(scripted("PURPLE answer.", "PURPLE again."))
    async with serving(hermes) as phones:
        for answer in ("PURPLE answer.", "PURPLE again."):
            phones.write(ANNA, "The elephant is PURPLE.")
            await phones.last(ANNA, answer)
        phones.write(OWNER, "/people")
        listed = await phones.last(OWNER, "`room:anna`")
        assert re.search(r"`room:anna` \(Anna\), user: today 2 calls", listed)
        assert "`room:ben`, admin: today 0" in listed
        phones.write(OWNER, "/people anna")
        shown = await phones.last(OWNER, "let in by:")
        assert "gateway.allowed_users" in shown
        assert "PURPLE" not in "".join(phones.got[OWNER])
        phones.write(BEN, "/people", chat="group", kind="group")
        await phones.last("group", "Ask me in our private chat.")


async def test_somebody_comes_by_invitation_and_is_that_person(hermes, scripted):
    house(hermes, **PEOPLE, **{"gateway.unknown": "ignore"})
    hermes.tmp_plugin(scripted("Hello Carla."))
    async with serving(hermes) as phones:
        phones.write(BEN, "/people invite carla 2h")
        word = re.search(r"`([A-Z2-9]{20})`", await phones.last(BEN, "Good once"))[1]
        phones.write("carla's phone", word, chat="group", kind="group")
        phones.write("carla's phone", f"/start {word}")
        await phones.last("carla's phone", "Welcome. You are carla here")
        phones.write("carla's phone", "Hi!")
        await phones.last("carla's phone", "Hello Carla.")
        phones.write("a thief", word)
        phones.write(BEN, "/people invite carla")
        await phones.last(BEN, "carla is somebody here already")
        phones.write(BEN, "/people invite owner")
        await phones.last(BEN, "owner is somebody here already")
        store = await hermes.runtime.store()
        assert len(await store.sessions.list(Principal(person="carla"))) == 1
        assert (await rows_of(store).people.person("room", "carla's phone")).by == "invited by room:ben"
        assert "a thief" not in phones.got
        assert "group" not in phones.got


@pytest.mark.long
async def test_nothing_that_was_ordered_for_somebody_who_is_blocked_is_done(hermes, scripted):
    house(hermes, **PEOPLE)
    hermes.tmp_plugin(scripted("Hello Anna."))
    anna = Principal(person="room:anna")
    async with serving(hermes) as phones:
        phones.write(ANNA, "Hi!")
        await phones.last(ANNA, "Hello Anna.")
        phones.write(OWNER, "/people block anna")
        await phones.last(OWNER, "room:anna: blocked")
        with pytest.raises(UserError, match="Nothing is done for you here"):
            await context_of(hermes).turns.queue("A job that is due.", owner=anna)


class Beside(Jobs):
    """One process beside each conversation."""

    name = "process"

    def __init__(self) -> None:
        self.ended: list[str] = []

    async def running(self, session: Session) -> list[Job]:
        gone = session.owner.person in self.ended
        return [] if gone else [Job(id="p1", kind="process", title="sleep", since=0.0)]

    async def stop(self, session: Session, job: str) -> bool:
        self.ended.append(session.owner.person)
        return True


async def test_what_goes_on_beside_conversations_of_who_is_blocked_ends(hermes, scripted, monkeypatch):
    house(hermes, **PEOPLE, **{"workers.poll_seconds": 0.05})
    hermes.tmp_plugin(scripted("Hello Anna.", "Hello Ben."))
    beside = Beside()
    monkeypatch.setattr(context_of(hermes).host, "contributed", lambda *_: ({"process": beside}, ()))
    async with serving(hermes) as phones:
        for who, answer in ((ANNA, "Hello Anna."), (BEN, "Hello Ben.")):
            phones.write(who, "Hi!")
            await phones.last(who, answer)
        assert beside.ended == []
        phones.write(OWNER, "/people block anna")
        await phones.last(OWNER, "room:anna: blocked")
        async with asyncio.timeout(20):
            while not beside.ended:
                await asyncio.sleep(0.01)
        assert beside.ended == ["room:anna"]


async def test_jobs_are_quiet_at_night_and_answers_are_not(hermes, scripted):
    house(hermes)
    hermes.tmp_plugin(scripted("Hello.", "Good night."))
    async with serving(hermes) as phones:
        phones.write(OWNER, "Hi!")
        await phones.last(OWNER, "Hello.")
        rows = rows_of(await hermes.runtime.store())
        for begins, ends in (("00:00", "12:00"), ("12:00", "00:00")):
            await rows.quiet.set(QuietHours(person="owner", platform="room", chat=OWNER, begins=begins, ends=ends))
            if await rows.quiet.until(Principal(), "room", OWNER):
                break
        mailbox = hermes.runtime.mailbox()
        await mailbox.send(Principal(), "room", said("Your washing is done."))
        phones.write(OWNER, "/quiet")
        await phones.last(OWNER, "in room:owner's phone")
        [held] = [row for row in await rows.outbox.outbox_of() if "washing" in str(row)]
        assert held.held > 0
        phones.write(OWNER, "Are you awake?")
        await phones.last(OWNER, "Good night.")
        assert not any("washing" in text for text in phones.got[OWNER])
        phones.write(OWNER, "/quiet here off")
        await phones.last(OWNER, "Your washing is done.")


async def test_an_admin_lets_it_leave_a_group_and_is_told_what_is_kept(hermes, scripted):
    house(hermes, **PEOPLE, **{"platforms.room.allowed_chats": ["group"]})
    hermes.tmp_plugin(scripted("Hello.", "Hello all.", "Hello again."))
    group = {"chat": "group", "kind": "group", "chat_name": "The club"}
    async with serving(hermes) as phones:
        phones.write(OWNER, "Hi!")
        await phones.last(OWNER, "Hello.")
        phones.write(ANNA, "Hi all!", **group)
        await phones.last("group", "Hello all.")
        phones.write(ANNA, "/leave --once", **group)
        await phones.last("group", "There is no command /leave.")
        phones.write(BEN, "/leave", **group)
        await phones.last("group", "Really?")
        phones.write(BEN, "/leave --once", **group)
        await phones.last("group", "I leave.")
        await phones.last(OWNER, "Ben let me leave The club (room#group). What was said there is kept")
        async with asyncio.timeout(20):
            while phones.left != ["group"]:
                await asyncio.sleep(0.01)
        said = len(phones.got["group"])
        phones.write(ANNA, "Are you there?", **group)  # it was put back in
        phones.write(OWNER, "Hi again!")
        await phones.last(OWNER, "Hello again.")
        assert len(phones.got["group"]) == said
        phones.write(OWNER, "/leave --once")
        await phones.last(OWNER, "Say it in the group that I am to leave.")


async def test_who_runs_it_is_told_that_a_group_put_it_out(hermes, scripted):
    house(hermes, **PEOPLE, **{"platforms.room.allowed_chats": ["group"]})
    hermes.tmp_plugin(scripted("Hello.", "Hello all."))
    async with serving(hermes) as phones:
        phones.write(OWNER, "Hi!")
        await phones.last(OWNER, "Hello.")
        phones.closed = "group"
        phones.write(ANNA, "Hi all!", chat="group", kind="group", chat_name="The club")
        told = await phones.last(OWNER, "Nothing reaches The club (room#group) any more")
        assert "hermes people erase 'room#group'" in told


async def test_who_runs_it_is_told_who_put_it_out_of_a_group(hermes, scripted):
    house(hermes, **PEOPLE, **{"platforms.room.allowed_chats": ["group"]})
    hermes.tmp_plugin(scripted("Hello.", "Hello all.", "Still here."))
    group = {"chat": "group", "kind": "group", "chat_name": "The club"}
    async with serving(hermes) as phones:
        phones.write(OWNER, "Hi!")
        await phones.last(OWNER, "Hello.")
        phones.write(ANNA, "Hi all!", **group)
        await phones.last("group", "Hello all.")
        phones.write("eve [owner]", "", what="removed", chat="never heard of", kind="group")
        phones.write("eve [owner]", "", what="removed", **group)  # a stranger, whom nobody lets in
        told = await phones.last(OWNER, "Nothing reaches The club (room#group) any more")
        assert "(room:eve [owner]) put me out." in told
        assert "hermes people erase 'room#group'" in told
        phones.write("eve [owner]", "", what="removed", **group)
        phones.write(OWNER, "Are you there?")
        await phones.last(OWNER, "Still here.")
        assert sum("Nothing reaches" in text for text in phones.got[OWNER]) == 1
