"""Two schedulers on one store are killed at random moments: nothing is begun twice or lost, nobody told twice."""

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
from hermes_tool_cron.schedule import parse, shown
from hermes_tool_cron.values import OVER

START = 1_767_225_600.0
SCHEDULES = ("every 5m", "every 7m", "*/10 * * * *", "3,33 * * * *")
LIVING = Path(__file__).with_name("living.py")


def end_of(kills: int) -> float:
    """Return when the last instant is: schedulers have something to do for as long as they are killed."""
    return START + max(3, kills // 8) * 3600


def instants(schedule: str, end: float) -> list[float]:
    found, instant, made = [], START, parse(schedule, "UTC", START)
    while (instant := made.after(instant)) and instant <= end:
        found.append(instant)
    return found


def killed(folder: Path, kills: int, url: str = "") -> list[dict]:
    """Let two schedulers live and die on one home, then one that ends what is left; the rows of all instants."""
    dice = random.Random(kills)
    home = folder / "home"
    (folder / "sent").mkdir()
    order = {"home": str(home), "url": url, "epoch": 0.0, "end": end_of(kills)}
    said = folder / "said"
    with Forks(LIVING) as one, Forks(LIVING) as two:
        order["epoch"] = time.time() + 3600
        assert one.play(what="make", output=said, **order) == 0, said.read_text()[-3000:]
        order["epoch"] = time.time()
        living = {forks: forks.start(what="live", output=said, **order) for forks in (one, two)}
        for _ in range(kills):
            time.sleep(dice.uniform(0.05, 1.2))
            forks = dice.choice((one, two))
            os.kill(living[forks], signal.SIGKILL)
            assert forks.wait() == -9, said.read_text()[-3000:]
            living[forks] = forks.start(what="live", output=said, **order)
        for forks, process in living.items():
            os.kill(process, signal.SIGKILL)
            forks.wait()
        assert one.play(what="finish", output=said, **order) == 0, said.read_text()[-3000:]
    return rows_of(home, url)


def rows_of(home: Path, url: str) -> list[dict]:
    # A call that was written down and cut off by a death may not have been run: its outcome is unknown, and told so.
    unknown = "(SELECT COUNT(*) FROM tool_calls WHERE session_id = session AND outcome = 'unknown')"
    asked = f"SELECT name, due, state, why, delivery, id, {unknown} FROM tool_cron__runs ORDER BY due"
    if url:
        import psycopg

        with psycopg.connect(url.replace("+psycopg", "")) as connection:
            found = connection.execute(asked).fetchall()
    else:
        with closing(sqlite3.connect(home / "state.db")) as connection:
            found = connection.execute(asked).fetchall()
    columns = ("name", "due", "state", "why", "delivery", "id", "unknown")
    return [dict(zip(columns, row, strict=True)) for row in found]


def judge(folder: Path, rows: list[dict], kills: int) -> Counter[str]:
    for number, schedule in enumerate(SCHEDULES):
        theirs = [row["due"] for row in rows if row["name"] == f"job{number}"]
        assert theirs == instants(schedule, end_of(kills)), schedule
    assert all(row["state"] in OVER for row in rows)
    acted = Counter((folder / "truth").read_text().splitlines())
    assert set(acted.values()) == {1}, acted.most_common(3)
    sent = Counter(path.name for path in (folder / "sent").iterdir())
    for row in rows:
        ran = f"{row['name']} {shown(row['due'], 'UTC', year=True)}" in acted
        assert ran or row["unknown"] or row["state"] != "done", row
        told = f"tool_cron:cron:{row['id']}:post:anna" in sent  # the kernel puts the plugin before a key
        assert told == (row["state"] in ("done", "failed", "interrupted")), row
        assert row["why"] or row["state"] == "done", row
    return Counter(row["state"] for row in rows)


@pytest.mark.long
@pytest.mark.timeout(200)
def test_two_schedulers_are_killed(tmp_path, request):
    kills = request.config.getoption("kills")
    assert judge(tmp_path, killed(tmp_path, kills), kills)["done"] > 3


@pytest.mark.real
@pytest.mark.long
@pytest.mark.timeout(3600)  # with as many --kills as one has the patience for
def test_two_schedulers_on_a_server_are_killed(tmp_path, request, database_url):
    kills = request.config.getoption("kills")
    assert judge(tmp_path, killed(tmp_path, kills, database_url), kills)["done"] > 3
