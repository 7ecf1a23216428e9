"""Processes that learn are killed at every step: a review finds once what it finds, and no version is torn."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from hermes_core.testing.forks import Forks
from hermes_tool_lessons.shared import ledger_of, queue_of, rows_of, selector_of
from hermes_tool_lessons.tables import content_of

LIVING = Path(__file__).with_name("living.py")
POINTS = ("storing", "stored", "received", "leased", "journaled", "requested", "mid_stream", "replied", "answered")


@pytest.fixture(scope="module")
def forks():
    with Forks(LIVING) as made:
        yield made


def asked(home, statement):
    with closing(sqlite3.connect(home / "state.db")) as connection:
        return connection.execute(statement).fetchall()


def whole(home):
    """What must hold in every moment: each lesson is its newest version, versions are numbered without a gap."""
    content = ("trigger", "text", "state", "scope", "place", "replaces", "asks", "tainted", "pinned")
    rows = asked(home, f"SELECT id, version, {', '.join(content)} FROM tool_lessons__lessons")
    for lesson, version, *values in rows:
        kept = asked(
            home, f"SELECT number, content FROM tool_lessons__versions WHERE lesson = '{lesson}' ORDER BY number"
        )
        assert [number for number, _ in kept] == list(range(1, version + 1))
        told = json.loads(kept[-1][1])
        assert [int(told[n]) if n in ("tainted", "pinned") else told[n] for n in content] == values
    revs = [rev for (rev,) in asked(home, "SELECT rev FROM tool_lessons__versions ORDER BY rev")]
    assert revs == list(range(1, len(revs) + 1))
    for lesson, uses, wins in asked(home, "SELECT id, uses, wins FROM tool_lessons__lessons"):
        counted = (
            "SELECT COUNT(*), COALESCE(SUM(value), 0) FROM tool_lessons__events WHERE kind = 'credit' AND lesson = "
        )
        assert asked(home, f"{counted}'{lesson}'") == [(uses, float(wins))]


def steps(forks, base, folder, what, points, check, every=1):
    """Kill a process at each step of what it does, let another go on, and look; how often one was killed."""
    killed = 0
    for point in points:
        for number in range(1, 80, every):
            home = folder / f"{point}{number}" / "home"
            shutil.copytree(base, home.parent)
            env = {"HERMES_TESTING": "1", "HERMES_DIE_AT": f"{point}:{number}"}
            said = folder / "said"
            status = forks.play(env=env, home=str(home), what=what, output=said)
            assert status in (-9, 0), said.read_text()[-3000:]
            if status == -9:
                whole(home)
                assert forks.play(home=str(home), what=what, output=said) == 0, said.read_text()[-3000:]
            whole(home)
            check(home)
            shutil.rmtree(home.parent)
            killed += status == -9
            if status == 0:
                break
    return killed


@pytest.mark.long
@pytest.mark.timeout(500)
def test_a_review_that_is_killed_at_any_step_finds_once_what_it_finds(forks, tmp_path):
    base = tmp_path / "base"
    (base / "home").mkdir(parents=True)
    assert forks.play(home=str(base / "home"), what="talk", output=tmp_path / "said") == 0, (
        tmp_path / "said"
    ).read_text()

    def check(home):
        found = asked(home, "SELECT text, state, version FROM tool_lessons__lessons ORDER BY text")
        assert found == [("Use `--iso` for dates.", "trial", 2), ("Write `;` between columns.", "trial", 2)]
        assert asked(home, "SELECT state, found, fork FROM tool_lessons__reviews WHERE session <> ''") == [
            ("done", 2, "")
        ]
        replays = "SELECT state, COUNT(*) FROM tool_lessons__reviews WHERE session = '' GROUP BY state"
        assert asked(home, replays) == [("done", 2)]
        assert asked(home, "SELECT COUNT(*) FROM tool_lessons__events WHERE kind = 'learned'") == [(2,)]
        assert asked(home, "SELECT COUNT(*) FROM sessions WHERE id <> 's'") == [(0,)], "no copy stays"
        reviews = (home.parent / "asked").read_text().count("review")
        assert reviews in (1, 2), "it is asked again only where a death took its reply"

    assert steps(forks, base, tmp_path, "review", POINTS, check) > 15


@pytest.mark.long
@pytest.mark.timeout(500)
def test_edits_that_are_killed_at_any_step_leave_whole_versions(forks, tmp_path, request):
    every = max(1, request.config.getoption("every") // 3)
    base = tmp_path / "base"
    (base / "home").mkdir(parents=True)
    assert forks.play(home=str(base / "home"), what="nothing", output=tmp_path / "said") == 0
    assert steps(forks, base, tmp_path, "edit", ("storing", "stored"), lambda _: None, every) > 100 // every - 10


@pytest.mark.real
@pytest.mark.timeout(200)
async def test_on_a_server_lessons_are_what_they_are_in_a_file(hermes, database_url):
    from .living import edits

    hermes.tmp_plugin("hermes_backend_postgresql")
    hermes.tmp_plugin("hermes_tool_lessons")
    hermes.configure({"store.url": database_url})
    hermes.runtime.load_hooks()
    ctx, me = hermes.context("hermes_tool_lessons"), hermes.runtime.owner
    await edits(rows_of(ctx), ledger_of(ctx), me)
    lessons = await rows_of(ctx).list(me)
    assert sorted((one.state, one.uses, one.wins) for one in lessons) == [
        *[("trial", 4, 0)] * 3,
        *[("trial", 4, 4)] * 3,
    ]
    for one in lessons:
        assert content_of(one) == (await rows_of(ctx).versions(one.id))[-1].content
    index = await selector_of(ctx).index(me)
    assert [found.id in {one.id for one in lessons} for found in index.called("syncing kesto3 now")] == [True]
    owner = await queue_of(ctx).plan(me, "s", "x", 0.0)
    (review,) = await queue_of(ctx).open()
    assert (review.id, await queue_of(ctx).claim(owner, "me")) == ("s#1", True)
    assert await queue_of(ctx).ended(review, (), why="", tokens=1, money=0.1, mode="auto", most=1) == 0
    assert await queue_of(ctx).used(me) == (1, 1, 0)
    assert (await ledger_of(ctx).about(lessons[0]))[1]
    assert await rows_of(ctx).restore(me, 1) == 5
    assert await rows_of(ctx).tidy(me, 9e12) == 1
    assert await rows_of(ctx).erase(me) == 6
