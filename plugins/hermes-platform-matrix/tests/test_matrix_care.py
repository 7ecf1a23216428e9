"""Care for people in rooms of a real homeserver: who comes, who is kept out, who is told what where, who goes."""

import re

import pytest
from matrix_village import Village

from hermes_core.types import Principal
from hermes_platform_gateway.outward.outgoing import said

pytestmark = pytest.mark.real


@pytest.fixture
def village(hermes, stage):
    return Village(hermes, stage)


def replying(event):
    return {"m.relates_to": {"m.in_reply_to": {"event_id": event}}}


async def test_a_stranger_comes_by_a_code_or_by_invitation_and_is_that_person(village, stage):
    ada, eve, carla = [await stage.person(name) for name in ("ada", "eve", "carla")]
    async with village.at_home(ada, **{"gateway.unknown": "pair"}):
        home, hers, other = await village.room(ada), await village.room(eve), await village.room(carla)
        await village.says(eve, hers, "Let me in.")
        code = re.search(r"`?([A-Z2-9]{10})`?", await village.hears(eve, hers, "I do not know you yet"))[1]
        await village.says(eve, hers, f"!pair {code}")
        await village.says(ada, home, f"!pair {code}")
        await village.hears(ada, home, "may talk to me now")
        await village.says(eve, hers, "Hello.")
        await village.hears(eve, hers, "I heard you.")
        await village.says(eve, hers, "!people")
        await village.hears(eve, hers, "There is no command /people.")
        await village.says(ada, home, "!people invite carla 2h")
        word = re.search(r"([A-Z2-9]{20})", await village.hears(ada, home, "Good once"))[1]
        await village.says(carla, other, word)
        await village.hears(carla, other, "Welcome. You are carla here")
        await village.says(carla, other, "!whoami")
        assert "carla" in await village.hears(carla, other, "You are ")
    assert len(village.told) == 1


async def test_an_admin_mutes_by_reply_and_blocks_and_nobody_else_does(village, stage):
    ada, ben = await stage.person("ada"), await stage.person("ben")
    async with village.at_home(ada, ben):
        home, hers = await village.room(ada), await village.room(ben)
        room = await village.room(ada, ben)
        first = await village.says(ben, room, "Hello.")
        await village.hears(ben, room, "I heard you.")
        await village.says(ben, room, "!people mute 1h", **replying(first))
        await village.hears(ben, room, "only an admin of the group can do that")
        await village.says(ada, room, "!people mute 1h", **replying(first))
        await village.hears(ada, room, f"matrix:{ben.user}: muted until")
        await village.says(ben, hers, "Can you hear me?")
        await village.hears(ben, hers, "You are muted until")
        await village.says(ada, home, f"!people unmute {ben.user}")
        await village.hears(ada, home, "is heard again.")
        await village.says(ben, hers, "And now?")
        await village.hears(ben, hers, "I heard you.")
        await village.says(ada, home, f"!people block {ben.user}")
        await village.hears(ada, home, "blocked by owner")
        told = len(ben.heard(stage.user))
        await village.says(ben, hers, "Hello?")
        await village.says(ada, home, "Hello.")
        await village.hears(ada, home, "I heard you.")
        await ben.quiet()
        assert len(ben.heard(stage.user)) == told, "who is blocked hears nothing"


async def test_a_room_is_slow_answers_privately_and_is_left(village, stage):
    ada, ben = await stage.person("ada"), await stage.person("ben")
    async with village.at_home(ada, ben, **{"gateway.thread_sessions_per_user": True}):
        home, hers = await village.room(ada), await village.room(ben)
        room = await village.room(ada, ben)
        for who, where in ((ada, home), (ben, hers)):
            await village.says(who, where, "Hello.")
            await village.hears(who, where, "I heard you.")
        await village.says(ben, room, "!sessions")
        await village.hears(ben, room, "Answered you privately.")
        assert "You asked in" in await village.hears(ben, hers, "!sessions")
        await village.says(ben, room, "!slow 600")
        await village.hears(ben, None, "There is no command /slow.")
        await village.says(ada, room, "!slow 600")
        await village.hears(ada, None, "one message of a person every 600 seconds")
        await village.says(ben, room, "One.")
        await village.hears(ben, room, "I heard you.")
        await village.says(ben, room, "Two.")
        await village.hears(ben, None, "Slow mode: one message every 600 seconds here")
        await village.says(ben, room, "!leave --once")
        await village.hears(ben, None, "There is no command /leave.")
        await village.says(ada, room, "!leave --once")
        await village.hears(ada, None, "I leave.")
        await ada.until(lambda: stage.user not in ada.client.rooms[room].users)


async def test_what_nobody_asked_for_waits_until_quiet_hours_are_over(village, stage):
    ada, ben = await stage.person("ada"), await stage.person("ben")
    async with village.at_home(ada, ben):
        hers = await village.room(ben)
        await village.says(ben, hers, "Hello.")
        await village.hears(ben, hers, "I heard you.")
        await village.says(ben, hers, "!quiet 00:00-23:59")
        await village.hears(ben, hers, "Then nothing comes that you did not ask for")
        mailbox = village.hermes.runtime.mailbox()
        await mailbox.send(Principal(person=f"matrix:{ben.user}"), f"matrix:{hers}", said("Your washing is done."))
        await village.says(ben, hers, "Are you awake?")
        await village.hears(ben, hers, "I heard you.", 2)
        assert not [m for m in ben.heard(stage.user, hers) if "washing" in m["content"]["body"]]
        await village.says(ben, hers, "!quiet off")
        await village.hears(ben, hers, "Your washing is done.")
