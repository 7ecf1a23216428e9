"""Two people at the same moment, and somebody whose right ends while their words wait."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from unittest.mock import patch

import pytest
from people_house import House, house, until
from people_near import near
from people_telegram import GROUP, PLACES, TOPIC, buttons, number_of, said

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]
INTERRUPTIONS = (
    "/stop",
    "/steer TAKEN",
    "/queue clear --once",
    "/undo --once",
    "/new --once",
    "/jobs stop 1",
    "/retry",
)


@pytest.fixture
def made(tmp_path, server) -> Iterator[House]:
    with house(tmp_path / "house", server, "unknown: pair") as started:
        started.model.go.clear()
        yield started


def seen(made: House, who: str) -> list[str]:
    return [said(m) for place in PLACES for m in made.phones.shown(who, place)]


def shows(made: House, who: str, words: str) -> Callable[[], bool]:
    return lambda: any(words in text for text in seen(made, who))


def test_who_was_asked_has_answered_though_another_presses_first(made: House):
    question = '{"question": "Which?", "choices": ["red", "blue"]}'
    for number in range(1, 9):
        made.phones.say("ann", "group", f"ann-{number}. go\nORDER clarify {question}")
        asked = until(
            lambda n=number: [m for m in made.phones.shown("ann", "group") if "Which?" in said(m)][n - 1 :],
            "no question",
        )
        red, blue = buttons(asked[-1])[:2]
        for who in ("ben", "ann", "ben"):
            made.phones.press(who, asked[-1], red if who == "ben" else blue)
        # The press makes ben the one whom Telegram would show an answer below it.
        until(
            lambda n=number: any(
                f"done ann-{n}." in said(m) and "▌" not in said(m) for _, m in made.phones.everything()
            ),
            "ann is not answered",
        )
        [answer] = [said(m) for _, m in made.phones.everything() if f"done ann-{number}." in said(m)]
        assert "blue" in answer, (number, answer)


@pytest.mark.parametrize("place", ["dm", "group"])
def test_nobody_ends_or_changes_the_running_turn_of_another(made: House, place: str):
    made.phones.say("ann", place, "ann-1. SLOW work")
    until(lambda: made.model.of("ann"), "the turn does not begin")
    for text in INTERRUPTIONS:
        before = len(seen(made, "ben"))
        made.phones.say("ben", place, text)
        until(lambda n=before: len(seen(made, "ben")) > n, f"{text} is not answered")
    made.model.go.set()
    until(shows(made, "ann", "done ann-1."), "ann is not answered")
    assert len(made.model.of("ann")) == 1
    assert not any(b"TAKEN" in body for body in made.model.of("ann"))


def test_what_waits_of_somebody_who_was_put_out_is_not_played(made: House):
    made.phones.say("eve", "dm", "let me in")
    until(shows(made, "eve", "Your code is"), "there is no code")
    code = re.search(r"code is ([A-Z2-9]{8,})", "".join(seen(made, "eve")))
    assert code
    made.home.run("gateway", "pair", "approve", code[1])
    made.phones.say("eve", "dm", "eve-1. SLOW work")
    until(lambda: made.model.of("eve"), "the turn does not begin")
    made.phones.say("eve", "dm", "eve-2. and this")
    made.phones.heard()
    made.home.run("gateway", "pair", "revoke", "telegram", str(number_of("eve")))
    made.model.go.set()
    made.phones.say("oli", "dm", "oli-1. hello")
    until(shows(made, "oli", "done oli-1."), "oli is not answered")
    until(shows(made, "eve", "done eve-1."), "what ran is not answered")
    made.phones.say("oli", "dm", "oli-2. hello")
    until(shows(made, "oli", "done oli-2."), "oli is not answered")
    assert not any(b"eve-2." in body for body in made.model.bodies)


def test_who_answers_before_the_group_reads_that_they_are_asked_is_seen_to_have_answered(tmp_path):
    """The line in the group is on its way as the answer comes; it says what became of it all the same."""
    with near(tmp_path / "house", "thread_sessions_per_user: true") as made:
        real, arrives = made.phones.service._do, asyncio.Event()

        async def slowly(method: str, given: dict) -> object:
            if str(given.get("text")).endswith("is asked privately."):
                await arrives.wait()
            return await real(method, given)

        with patch.object(made.phones.service, "_do", slowly):
            for number, place in enumerate(("dm", "thread")):
                made.phones.say("ann", place, f"ann-{number}. hello")
                until(shows(made, "ann", f"done ann-{number}."), "ann is not answered")
            order = json.dumps({"target": f"telegram:{GROUP}:{TOPIC}", "text": "ann-2. to all"})
            made.phones.say("ann", "group", f"ann-2. canary\nORDER message {order}")
            until(shows(made, "ann", "/approve "), "ann is not asked")
            [asked] = [re.search(r"/approve (\w+) ", text) for text in seen(made, "ann") if "/approve " in text]
            assert asked
            assert not any("is asked privately" in text for text in seen(made, "ann"))
            made.phones.say("ann", "dm", f"/approve {asked[1]}")
            made.phones.heard()
            made.loop.call_soon_threadsafe(arrives.set)
            until(shows(made, "ann", "is asked privately.\n\nAllowed (once)"), "the group does not read it", 5)
