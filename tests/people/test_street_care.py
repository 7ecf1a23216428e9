"""Care for people in rooms of Matrix: who comes, who is kept out, who is told what where, who goes.

The homeserver is one in this process (``people_matrix``); that a real one does the same is seen in
``test_matrix_care.py`` of the plugin.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from people_house import MATRIX, until
from people_matrix import BOT, CLUB, home_of, user_of
from people_near import Near, near

from hermes_core.types import Principal
from hermes_platform_gateway.outward.outgoing import said

SECRET = "VIOLETTANN"


class Lane:
    """People who write to the bot and read it, in a room of their own with it or in the one of all."""

    def __init__(self, made: Near) -> None:
        self.made, self.number = made, 0

    def says(self, who: str, text: str, room: str = "", **more: Any) -> str:
        """Somebody writes; the event."""
        return str(self.made.doing(self.made.matrix.say(who, room or home_of(who), text, **more)))

    def reads(self, words: str, room: str) -> list[str]:
        """What the bot said there that holds some words."""
        return [one["text"] for one in self.made.matrix.shown(room) if words in one["text"]]

    def hears(self, who: str, words: str, room: str = "", times: int = 1) -> str:
        """What the bot says to somebody, once it has said it so often."""

        def there() -> list[str]:
            found = self.reads(words, room or home_of(who))
            return found if len(found) >= times else []

        return str(until(there, f"{who} does not hear {words!r} in {room or 'their room'}")[-1])

    def is_answered(self, who: str, room: str = "") -> str:
        """Somebody says something, and is answered; the event."""
        tag = self._tag(who)
        event = self.says(who, f"{tag} hello", room)
        self.hears(who, f"done {tag}", room)
        return event

    def is_not_heard(self, who: str, room: str = "") -> None:
        """Somebody says something, and it reaches no model, while the owner is answered."""
        tag = self._tag(who)
        self.says(who, f"{tag} hello", room)
        self.is_answered("oli")
        self.still()
        assert not self.reads(f"done {tag}", room or home_of(who))
        assert not [body for body in self.made.model.bodies if tag.encode() in body]

    def still(self) -> None:
        """Wait until nothing goes on."""
        until(lambda: self.made.is_idle() and self.made.is_idle(), "it does not come to rest")

    def shown(self, who: str) -> int:
        """How many messages the bot has in somebody's own room."""
        return len(self.made.matrix.shown(home_of(who)))

    def _tag(self, who: str) -> str:
        self.number += 1
        return f"{who}-{self.number}."


Made = Callable[..., Lane]


@pytest.fixture
def lane(tmp_path: Path) -> Iterator[Made]:
    """A lane, with further settings."""
    houses = []

    def made(*more: str) -> Lane:
        houses.append(near(tmp_path / "house", "\n  ".join([MATRIX, *more])))
        return Lane(houses[-1].__enter__())

    yield made
    for one in houses:
        one.__exit__(None, None, None)


def _replying(event: str) -> dict[str, Any]:
    return {"m.relates_to": {"m.in_reply_to": {"event_id": event}}}


def test_a_stranger_comes_by_a_code_that_an_admin_takes(lane: Made):
    here = lane("unknown: pair")
    here.says("eve", "Let me in.")
    code = re.search(r"([A-Z2-9]{10})", here.hears("eve", "I do not know you yet"))
    assert code
    here.says("eve", f"!pair {code[1]}")
    here.says("ann", f"!pair {code[1]}")
    here.hears("ann", "There is no command /pair")
    here.is_not_heard("eve")
    here.says("oli", f"!pair {code[1]}")
    here.hears("oli", "may talk to me now")
    here.is_answered("eve")
    here.says("eve", "!people")
    here.hears("eve", "There is no command /people")


def test_an_invitation_is_good_once_and_for_who_sends_its_word(lane: Made):
    here = lane("unknown: pair")
    here.is_answered("oli")
    here.says("ann", "!people invite eve 2h")
    here.hears("ann", "There is no command /people")
    here.says("oli", "!people invite carla 2h")
    word = re.search(r"([A-Z2-9]{20})", here.hears("oli", "Good once"))
    assert word
    here.says("eve", word[1][:-1] + ("A" if word[1][-1] != "A" else "B"))
    here.says("eve", word[1])
    here.hears("eve", "Welcome. You are carla here")
    here.says("eve", "!whoami")
    here.hears("eve", "carla")
    here.made.doing(_moves_in(here.made, "fay"))
    here.says("fay", word[1])
    here.still()
    assert not here.reads("Welcome", home_of("fay")), "it is good once"


async def _moves_in(made: Near, who: str) -> None:
    """Somebody more lives there, with a room of their own with the bot."""
    made.matrix.rooms[home_of(who)] = {BOT}
    await made.matrix.member(who, home_of(who), "join")


def test_an_admin_mutes_by_reply_and_nobody_else_does(lane: Made):
    here = lane()
    here.is_answered("oli")
    first = here.is_answered("ben", CLUB)
    here.says("ann", "!people mute 1h", CLUB, **_replying(first))
    here.hears("ann", "only an admin of the group can do that", CLUB)
    here.is_answered("ben")
    here.says("oli", "!people mute 1h", CLUB, **_replying(first))
    here.hears("oli", "muted until", CLUB)
    here.says("ben", "Can you hear me?")
    here.hears("ben", "You are muted until")
    told = here.shown("ben")
    for room in (CLUB, home_of("ben")):
        here.is_not_heard("ben", room)
    assert here.shown("ben") == told, "who is muted is told so once"
    here.says("oli", "!people unmute ben")
    here.hears("oli", "is heard again")
    here.is_answered("ben")


def test_who_is_blocked_hears_nothing_in_any_place_until_let_back_in(lane: Made):
    here = lane()
    here.is_answered("ben")
    here.says("oli", f"!people block {user_of('ben')}")
    here.hears("oli", "blocked by owner")
    told = here.shown("ben")
    for room in (home_of("ben"), CLUB):
        here.is_not_heard("ben", room)
    here.says("ben", "!whoami")
    here.still()
    assert here.shown("ben") == told
    assert here.made.ask("ben", "GET", "/api/sessions")[0] == 403, "a block holds at every door"
    here.says("ben", f"!people unblock {user_of('ben')}")
    here.says("oli", "!people block oli")
    here.hears("oli", "owner of this Hermes is never blocked")
    here.says("oli", "!people unblock ben")
    here.hears("oli", "is heard again")
    here.is_answered("ben")


def test_a_slow_room_takes_one_message_of_a_person_and_of_an_admin_all(lane: Made):
    here = lane("thread_sessions_per_user: true")
    here.says("ben", "!slow 600", CLUB)
    here.hears("ben", "There is no command /slow", CLUB)
    here.says("oli", "!slow 600", CLUB)
    here.hears("oli", "one message of a person every 600 seconds", CLUB)
    here.is_answered("ben", CLUB)
    here.says("ben", "ben-900. again", CLUB)
    here.hears("ben", "Slow mode: one message every 600 seconds here", CLUB)
    here.is_answered("ann", CLUB)
    here.is_answered("ben")
    for _ in range(2):
        here.is_answered("oli", CLUB)
    assert not [body for body in here.made.model.bodies if b"ben-900" in body]


def test_what_a_person_asks_about_themselves_is_answered_privately(lane: Made):
    here = lane("thread_sessions_per_user: true")
    here.is_answered("ben")
    here.says("ben", f"ben-700. {SECRET}")
    here.hears("ben", "done ben-700.")
    here.says("ben", "!sessions", CLUB)
    here.hears("ben", "Answered you privately.", CLUB)
    here.hears("ben", "You asked in Club: !sessions")
    here.says("ben", "!history", CLUB)
    here.hears("ben", "Answered you privately.", CLUB, 2)
    assert not here.reads(SECRET, CLUB)
    here.says("cat", "!sessions", CLUB)  # who has no private room yet
    here.still()
    assert not here.reads(SECRET, CLUB)


def test_what_nobody_asked_for_waits_until_quiet_hours_are_over(lane: Made):
    here = lane()
    here.is_answered("ben")
    here.says("ben", "!quiet 00:00-23:59")
    here.hears("ben", "Then nothing comes that you did not ask for")
    mailbox: Any = here.made.hermes.runtime.mailbox()
    here.made.doing(mailbox.send(Principal(person="ben"), f"matrix:{home_of('ben')}", said("Your washing is done.")))
    here.is_answered("ben")
    here.still()
    assert not here.reads("washing", home_of("ben"))
    here.says("ben", "!quiet off")
    here.hears("ben", "Your washing is done.")


def test_a_room_is_left_when_an_admin_says_so_and_nobody_there_is_heard(lane: Made):
    here = lane()
    here.is_answered("oli")
    here.is_answered("ben", CLUB)
    here.says("ben", "!leave --once", CLUB)
    here.hears("ben", "only an admin of the group can do that", CLUB)
    here.says("oli", "!leave --once", CLUB)
    until(lambda: BOT not in here.made.matrix.rooms[CLUB], "it does not leave")
    here.is_not_heard("ben", CLUB)
    here.is_answered("ben")


def test_of_who_is_erased_nothing_is_left_and_others_keep_theirs(lane: Made, tmp_path: Path):
    here = lane()
    order = f'ORDER write_file {{"path": "a.txt", "content": "{SECRET}"}}\nORDER memory {{"text": "{SECRET}"}}'
    for number, room in enumerate((home_of("ann"), CLUB)):
        here.says("ann", f"ann-80{number}. {SECRET}\n{order if room != CLUB else ''}", room)
        here.hears("ann", f"done ann-80{number}.", room)
    here.says("ben", "ben-810. KANARIEBEN")
    here.hears("ben", "done ben-810.")
    assert _held(tmp_path, SECRET)
    home = str(here.made.home.home)
    here.still()
    told = subprocess.run(
        [sys.executable, "-m", "hermes_core", "people", "erase", "ann", "--yes"],
        env={**os.environ, "HERMES_HOME": home},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    assert not _held(tmp_path, SECRET)
    settings = ("/config.yaml", "/cache/config.json")  # what the owner wrote, and as it was read
    assert not [one for one in _held(tmp_path, user_of("ann")) if not one.endswith(settings)]
    assert _held(tmp_path, "KANARIEBEN")
    here.says("ben", "!search KANARIEBEN")
    here.hears("ben", "KANARIEBEN")


def _held(folder: Path, word: str) -> list[str]:
    """The files that hold a word."""
    files = [one for one in folder.rglob("*") if one.is_file()]
    return [str(one) for one in files if word.encode() in one.read_bytes()]
