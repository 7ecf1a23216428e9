"""Processes that pursue a goal are killed at random moments: no turn comes twice, none is lost."""

import os
import random
import signal
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from hermes_core.testing.forks import Forks

LIVING, ROUNDS = Path(__file__).with_name("living.py"), 8


def asked(home, url, statement):
    if url:
        import psycopg

        with psycopg.connect(url.replace("+psycopg", "")) as connection:
            return connection.execute(statement).fetchall()
    with closing(sqlite3.connect(home / "state.db")) as connection:
        return connection.execute(statement).fetchall()


def killed(folder, kills, url=""):
    """Let two processes pursue a goal, kill one of them again and again, and look at what is written in the end."""
    dice, home, said = random.Random(kills), folder / "home", folder / "said"
    (folder / "work").mkdir()
    order = {"home": str(home), "url": url, "output": said}
    with Forks(LIVING) as one, Forks(LIVING) as two:
        assert one.play(what="make", **order) == 0, said.read_text()[-3000:]
        living = {forks: forks.start(what="gone", **order) for forks in (one, two)}
        for _ in range(kills):
            time.sleep(dice.uniform(0.05, 0.8))
            forks = dice.choice((one, two))
            with suppress(ProcessLookupError):  # there was nothing left to do for it
                os.kill(living[forks], signal.SIGKILL)
            assert forks.wait() in (-9, 0), said.read_text()[-3000:]
            living[forks] = forks.start(what="gone", **order)
        for forks, process in living.items():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            forks.wait()
        assert one.play(what="finish", **order) == 0, said.read_text()[-3000:]
    goals = "SELECT state, why, used_turns, used_money FROM tool_goals__goals"
    [(state, why, used, money)] = asked(home, url, goals)
    assert (state, why) == ("done", "every check passed")
    rounds = asked(home, url, "SELECT number, turn, verdict, money FROM tool_goals__rounds ORDER BY number")
    assert [number for number, *_ in rounds] == list(range(1, len(rounds) + 1))
    assert len({turn for _, turn, *_ in rounds}) == len(rounds) == used, "every round is one turn"
    assert [verdict for _, _, verdict, _ in rounds] == ["not_done"] * (len(rounds) - 1) + ["done"]
    assert money == pytest.approx(sum(cost for *_, cost in rounds))
    acts = len((folder / "work" / "acts").read_text().splitlines())
    assert ROUNDS <= acts <= used, "none is done twice in one turn"
    found = "SELECT round, COUNT(*), MAX(status) FROM tool_goals__evidence GROUP BY round ORDER BY round"
    found = asked(home, url, found)
    assert [(number, many) for number, many, _ in found] == [(number, 1) for number, *_ in rounds]
    assert found[-1][2] == "exit 0"
    orders = asked(home, url, "SELECT event_id, COUNT(*) FROM inbox WHERE platform = 'tool/goals' GROUP BY event_id")
    assert {many for _, many in orders} == {1}
    assert sum("/report/" in event for event, _ in orders) == 1, "its person was told once"


@pytest.mark.long
@pytest.mark.timeout(200)
def test_a_goal_whose_processes_are_killed_loses_no_turn_and_has_none_twice(tmp_path, request):
    killed(tmp_path, request.config.getoption("kills"))


@pytest.mark.real
@pytest.mark.long
@pytest.mark.timeout(3600)  # with as many --kills as one has the patience for
def test_a_goal_on_a_server_whose_processes_are_killed_loses_no_turn(tmp_path, request, database_url):
    killed(tmp_path, request.config.getoption("kills"), database_url)
