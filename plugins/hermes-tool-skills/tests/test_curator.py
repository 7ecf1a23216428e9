"""The life of what the agent wrote, by a clock of the test: used, stale, put away, brought back. And learning."""

from types import SimpleNamespace

import pytest

from hermes_core.errors import UnknownName
from hermes_core.types import Principal, Session
from hermes_tool_skills.curating import look, others
from hermes_tool_skills.curator import DAY, lives
from hermes_tool_skills.usage import Use, note, shorten, uses

from .test_skills_use import ME, block


@pytest.fixture
def clock(rig, monkeypatch):
    """A clock that only the test moves, in days."""
    now = {"days": 0.0}
    monkeypatch.setattr("hermes_tool_skills.library.time.time", lambda: 1_700_000_000.0 + now["days"] * DAY)
    return now


def phases(rig) -> dict[str, str]:
    from hermes_tool_skills.curating import rules_of

    return {life.name: life.phase for life in lives(rig.library, rules_of(rig.context))}


async def test_a_skill_that_nobody_uses_goes_stale_and_is_put_away(rig, clock):
    for name in ("used", "unused", "kept"):
        await rig.create(name)
    rig.run("pin", "kept")
    clock["days"] = 29
    await rig.call("skill_view", name="used")
    assert set(phases(rig).values()) == {"active", "pinned"}
    clock["days"] = 31
    assert phases(rig) == {"used": "active", "unused": "stale", "kept": "pinned"}
    clock["days"] = 91
    assert phases(rig) == {"used": "stale", "unused": "stale", "kept": "pinned"}
    assert "unused: not used for 91 days" in rig.curate("run", "--dry-run").output
    assert rig.states()["unused"] == "ready", "a dry run changes nothing"
    done = rig.curate("run", "--yes").output
    assert "Put away 1." in done
    assert rig.states().keys() == {"used", "kept"}
    assert phases(rig)["unused"] == "archived"
    assert "No skill is due." in rig.curate("run", "--yes").output
    assert "unused is back, as version 2" in rig.curate("restore", "unused").output
    assert phases(rig)["unused"] == "active"
    assert "# Do it" in await rig.call("skill_view", name="unused")


async def test_only_what_the_agent_wrote_moves(rig, clock, text):
    rig.put(rig.home / "skills" / "mine", {"SKILL.md": text("mine")})
    rig.run("enable", "mine", "--yes")
    rig.run("install", str(rig.source("got")), "--yes")
    await rig.create("theirs")
    await rig.call("skill_manage", action="delete", name="theirs")
    clock["days"] = 1_000
    rig.curate("run", "--yes")
    assert rig.states() == {"mine": "ready", "got": "disabled"}
    assert phases(rig) == {}, "what the agent deleted itself is not in the archive"
    with pytest.raises(UnknownName):
        rig.curate("restore", "theirs")


async def test_a_backup_brings_everything_back_as_it_was(rig, clock):
    await rig.create("tidy", "# Tidy\n\n1. Look.\n")
    await rig.create("sort")
    label = rig.curate("backup").output.split()[2].rstrip(".")
    await rig.call("skill_manage", action="patch", name="tidy", old="1. Look.", new="1. Obey.")
    await rig.call("skill_manage", action="delete", name="sort")
    await rig.create("later")
    assert "Back as they were: sort, tidy." in rig.curate("rollback", label, "--yes").output
    assert "1. Look." in await rig.call("skill_view", name="tidy")
    assert rig.states() == {"tidy": "ready", "sort": "ready", "later": "ready"}
    assert "All are as they were." in rig.curate("rollback", label, "--yes").output


async def test_old_backups_are_let_go_of(rig, clock):
    await rig.create("tidy")
    for day in range(8):
        clock["days"] = day
        rig.curate("backup")
    assert len(list((rig.library.data / "backups").iterdir())) == 5


async def test_it_is_looked_after_once_a_week_and_told_in_a_line(rig, clock, caplog):
    await rig.create("unused")
    clock["days"] = 100
    guest = Session(id="g", origin="cli", owner=Principal(person="ann"))
    await look(rig.context, guest)
    assert phases(rig) == {"unused": "stale"}
    rig.settings["curate"] = False
    await look(rig.context, ME)
    assert phases(rig) == {"unused": "stale"}
    rig.settings["curate"] = True
    with caplog.at_level("INFO"):
        await look(rig.context, ME)
    assert "Put away, as not used for 90 days: unused." in caplog.text
    rig.curate("restore", "unused")
    clock["days"] = 200
    await look(rig.context, ME)
    clock["days"] = 203
    rig.curate("restore", "unused")
    clock["days"] = 206
    rig.settings["archive_days"] = 1
    await look(rig.context, ME)
    assert phases(rig) == {"unused": "stale"}, "not twice in a week"


async def test_what_fails_each_time_makes_one_backup_a_week(rig, clock, caplog, monkeypatch):
    await rig.create("unused")
    (rig.library.data / "curator.json").write_text('{"when": "a while ago"}')

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(rig.library), "remove", full)
    for day in (100, 101, 102):
        clock["days"] = day
        await look(rig.context, ME)
    assert len(list((rig.library.data / "backups").iterdir())) == 1
    assert [one.levelname for one in caplog.records if "curator" in one.getMessage()] == ["WARNING"]


async def test_what_is_put_away_sooner_than_it_would_go_stale_is_put_away_then(rig, clock):
    await rig.create("unused")
    clock["days"] = 4
    rig.settings["archive_days"] = 3
    assert "unused: not used for 4 days" in rig.curate("run", "--yes").output
    assert phases(rig) == {"unused": "archived"}


async def test_a_stale_skill_is_listed_last(rig, clock):
    await rig.create("a-stale")
    clock["days"] = 40
    await rig.create("b-new")
    rig.curate("run", "--yes")
    assert [line.split(":")[0] for line in (await block(rig)).splitlines()[1:]] == ["- b-new", "- a-stale"]


async def test_what_is_told_of_each(rig, clock):
    await rig.create("tidy")
    await rig.call("skill_view", name="tidy")
    await rig.call("skill_view", name="tidy")
    clock["days"] = 45
    assert rig.curate("status").output.splitlines()[1].split() == ["tidy", "stale", "45", "2", "0", "1", "archive", "in", "45", "days"]  # fmt: skip # noqa: E501


def test_counts_are_summed_up_and_a_broken_line_costs_a_count(tmp_path):
    for number in range(9_000):
        note(tmp_path, "tidy", "read", float(number))
    note(tmp_path, "sort", "run", 7.0)
    with (tmp_path / "usage.jsonl").open("a") as file:
        file.write("{broken\n[]\n")
    before = uses(tmp_path)
    assert before == {"tidy": Use(read=9_000, last=8_999.0), "sort": Use(run=1, last=7.0)}
    shorten(tmp_path, lambda path, data: path.write_bytes(data) and None)
    assert (tmp_path / "usage.jsonl").stat().st_size < 500
    note(tmp_path, "tidy", "changed", 9_000.0)
    assert uses(tmp_path) == {**before, "tidy": Use(read=9_000, changed=1, last=9_000.0)}


# --- learning -----------------------------------------------------------------------------------------------------


async def test_what_is_learned_waits_for_a_person_who_sees_the_difference(rig):
    rig.process = rig.made()
    asked = (await rig.slash("learn", "the release")).parts[0].text
    assert "about the release" in asked
    said = await rig.create("release")
    rig.process = None
    assert "waits for a person" in said
    assert rig.states() == {}
    (row,) = [line for line in rig.run("pending").output.splitlines() if "release" in line]
    assert "+1. Look." in rig.run("diff", row.split()[0]).output
    rig.run("approve", row.split()[0], "--yes")
    assert rig.states() == {"release": "ready"}
    assert "waits for a person" in await rig.create("other"), "another process may play the turn"


async def test_nobody_but_the_owner_has_it_learn(rig):
    from hermes_core.errors import UserError

    with pytest.raises(UserError, match="owner's conversations"):
        await rig.slash("learn", "", Session(id="g", origin="cli", owner=Principal(person="ann")))
    rig.settings["writes"] = False
    with pytest.raises(UserError, match="not written here"):
        await rig.slash("learn", "")


def test_others_that_keep_things_with_a_life_are_asked_and_nobody_else(monkeypatch, capsys):
    asked = []

    def run(words, **_):
        asked.append(words[-3:])
        return SimpleNamespace(stdout="", stderr="No such thing.\nMore.", returncode=2)

    monkeypatch.setattr("subprocess.run", run)
    names = ("shop life", "shop tidy", "game life", "curator run", "life")
    plugins = SimpleNamespace(records=lambda _: [SimpleNamespace(words=one) for one in names])
    ctx = SimpleNamespace(plugins=plugins, paths=SimpleNamespace(home="/home"))
    assert not others(ctx, "tidy", "--yes")
    assert asked == [["shop", "tidy", "--yes"]]
    assert capsys.readouterr().err == "shop tidy: No such thing.\n"
