"""Two dispatchers, with all who work for them, are killed at random moments: nothing is claimed or done twice, or lost.

Where a death falls into an act, its outcome is unknown to the model, and it is not done again.
"""

import os
import random
import signal
import sqlite3
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from hermes_core.testing.forks import Forks

LIVING = Path(__file__).with_name("living.py")


def killed(folder: Path, kills: int, url: str = "") -> int:
    """Let two dispatchers live and die on one board, then one that ends what is left; how many tasks there were."""
    dice, home, said = random.Random(kills), folder / "home", folder / "said"
    many = 24 + 2 * kills
    order = {"home": str(home), "url": url, "many": many}
    with Forks(LIVING) as one, Forks(LIVING) as two:
        assert one.play(what="make", output=said, **order) == 0, said.read_text()[-3000:]
        living = {forks: forks.start(what="live", output=said, **order) for forks in (one, two)}
        for _ in range(kills):
            time.sleep(dice.uniform(0.05, 1.0))
            forks = dice.choice((one, two))
            os.kill(living[forks], signal.SIGKILL)
            assert forks.wait() == -9, said.read_text()[-3000:]
            living[forks] = forks.start(what="live", output=said, **order)
        for forks, process in living.items():
            os.kill(process, signal.SIGKILL)
            forks.wait()
        assert one.play(what="finish", output=said, **order) == 0, said.read_text()[-3000:]
    return many


def rows_of(home: Path, url: str, asked: str) -> list[tuple]:
    if url:
        import psycopg

        with psycopg.connect(url.replace("+psycopg", "")) as connection:
            return connection.execute(asked).fetchall()
    with closing(sqlite3.connect(home / "state.db")) as connection:
        return connection.execute(asked).fetchall()


def judge(folder: Path, many: int, url: str = "") -> None:
    home = folder / "home"
    tasks = rows_of(home, url, "SELECT id, status, claims FROM tool_kanban__tasks")
    assert len(tasks) == many
    assert {status for _, status, _ in tasks} == {"done"}
    runs = rows_of(home, url, "SELECT task, state, outcome, error, session FROM tool_kanban__runs")
    assert {state for _, state, *_ in runs} == {"over"}
    # Who dies is taken over from where they were; the kernel gives up a turn whose process died four times.
    given_up = [run for run in runs if run[2] != "completed"]
    assert all(run[2] == "failed" and "its process died" in run[3] for run in given_up), given_up
    assert Counter(run[0] for run in runs if run[2] == "completed") == Counter(task for task, *_ in tasks)
    assert Counter(run[0] for run in runs) == {task: claims for task, _, claims in tasks}
    acted = [line.split() for line in (folder / "truth").read_text().splitlines()]
    assert set(Counter(map(tuple, acted)).values()) == {1}  # no claim acts twice
    assert {(task, session) for task, session in acted} <= {(task, session) for task, *_, session in runs}
    first = {task: number for number, (task, _) in reversed([*enumerate(acted)])}
    last = {task: number for number, (task, _) in enumerate(acted)}
    links = rows_of(home, url, "SELECT parent, child FROM tool_kanban__links")
    assert links
    for parent, child in links:
        assert parent not in last or child not in first or last[parent] < first[child]
    assert len(first) >= many - many // 4  # the others died between the row and the act


@pytest.mark.long
@pytest.mark.timeout(500)
def test_two_dispatchers_are_killed(tmp_path, request):
    judge(tmp_path, killed(tmp_path, request.config.getoption("kills")))


@pytest.mark.real
@pytest.mark.long
@pytest.mark.timeout(3600)  # with as many --kills as one has the patience for
def test_two_dispatchers_on_a_server_are_killed(tmp_path, request, database_url):
    judge(tmp_path, killed(tmp_path, request.config.getoption("kills"), database_url), database_url)
