"""The life of written tools, by a clock of the test: called, stale, put away, brought back to the byte."""

import hashlib
import io
import random
import shutil
import tarfile
import time
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Principal, Session
from hermes_tool_workshop import curating, life
from hermes_tool_workshop.commands import commands
from hermes_tool_workshop.config import Config
from hermes_tool_workshop.label import Label
from hermes_tool_workshop.permissions import Permissions
from hermes_tool_workshop.store import ToolStore

from .conftest import COUNT, ME

RULES = life.Rules(stale=30, archive=90)


@pytest.fixture
def clock(monkeypatch):
    """A clock that only the test moves, in days."""
    begun, now = time.time(), {"days": 0.0}
    monkeypatch.setattr("hermes_tool_workshop.life.time.time", lambda: begun + (now["days"] + 0.01) * life.DAY)
    return now


def say(bench, line: str, **settings) -> str:
    """What a command says. Raises what it raises."""
    ctx = SimpleNamespace(paths=SimpleNamespace(data=bench.data), config=Config(**settings))
    made = {one.name.removeprefix("workshop "): one for one in (*commands(bench.data), *curating.commands(ctx))}
    name, *words = line.split()
    done = CliRunner().invoke(made[name].build(), words)
    if isinstance(done.exception, UserError):
        raise done.exception
    assert not done.exception, done.output
    return done.output


def phases(bench) -> dict[str, str]:
    return {one.name.removeprefix("own_"): one.phase for one in life.lives(bench.data, RULES)}


def bytes_of(folder) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in sorted(folder.rglob("*")) if one.is_file()}


def keep(bench, name: str, code: str = COUNT) -> ToolStore:
    """Keep a tool as a person said yes to it; its examples are tried elsewhere."""
    store = bench.shop.store(ME)
    code = code.replace("count_words", name).lstrip()
    digest = hashlib.sha256(code.encode()).hexdigest()
    facts = {"owner": "me", "permissions": Permissions(), "seconds": 10, "session": ME.id, "when": time.time()}
    label = Label(name=f"own_{name}", sha256=digest, **facts)
    store.keep(f"own_{name}", code, label, 50)
    return store


def three(bench) -> ToolStore:
    """Three tools, of which one is pinned."""
    store = next(iter([keep(bench, name) for name in ("used", "unused", "kept")]))
    say(bench, "pin kept")
    return store


async def test_a_tool_that_nobody_calls_goes_stale_is_put_away_and_comes_back_to_the_byte(bench, clock):
    store = three(bench)
    was = bytes_of(store.folder / "own_unused")
    clock["days"] = 29
    await bench.call("own_used", {"text": "a b"})
    assert phases(bench) == {"used": "active", "unused": "active", "kept": "pinned"}
    clock["days"] = 31
    assert phases(bench) == {"used": "active", "unused": "stale", "kept": "pinned"}
    assert "own_unused" in bench.offered(), "stale is still there"
    clock["days"] = 91
    assert "own_unused: not called for 91 days" in say(bench, "tidy --dry-run")
    assert phases(bench) == {"used": "stale", "unused": "stale", "kept": "pinned"}, "a dry run changes nothing"
    assert "hermes workshop restore NAME" in say(bench, "tidy --yes")
    assert phases(bench) == {"used": "stale", "unused": "archived", "kept": "pinned"}
    assert "own_unused" not in bench.offered()
    assert life.last(bench.data)["archived"] == ["own_unused"]
    assert "No tool is due." in say(bench, "tidy --yes")
    assert "own_unused is back, as it was." in say(bench, "restore unused")
    assert {path: held for path, held in bytes_of(store.folder / "own_unused").items() if path != "used"} == was
    assert phases(bench)["unused"] == "active"
    assert await bench.call("own_unused", {"text": "a b c"}) == "3"
    rows = [line.split() for line in say(bench, "life").splitlines()]
    assert ["own_unused", "active", "0", "days", "1", "calls"] in rows
    assert ["own_used", "stale", "62", "days", "1", "calls", "archive", "in", "28", "days"] in rows


async def test_a_backup_brings_all_tools_back_to_the_byte_whatever_came_in_between(bench, clock):
    store = three(bench)
    was = {name: bytes_of(store.folder / name) for name in store.names()}
    label = say(bench, "backup").split()[2].rstrip(".")
    keep(bench, "used", COUNT.replace("sum(", "2 * sum("))
    say(bench, "remove unused")
    keep(bench, "later")
    assert "Back as they were: own_unused, own_used." in say(bench, f"restore --backup {label}")
    for name, files in was.items():
        assert {path: held for path, held in bytes_of(store.folder / name).items() if path != "used"} == files
    assert set(store.names()) == {*was, "own_later"}
    assert await bench.call("own_used", {"text": "a b"}) == "2"
    assert "All are as they were." in say(bench, f"restore --backup {label}"), "calls are no change"
    for day in range(8):
        clock["days"] = day + 1
        say(bench, "backup")
    assert len(life.backups(bench.data)) == 5
    with pytest.raises(UnknownName):
        say(bench, f"restore --backup {label}")


async def test_what_was_moved_half_when_the_program_died_is_in_one_place_and_comes_back(bench, clock, monkeypatch):
    store = three(bench)
    label = say(bench, "backup").split()[2].rstrip(".")
    (store.folder / "own_used" / "current").write_bytes(b"{")  # damaged: it is a person's to look at, and stays
    clock["days"] = 100

    def dies(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("hermes_tool_workshop.store.sync_folder", dies)
    with pytest.raises(KeyboardInterrupt):
        life.run(bench.data, RULES)
    monkeypatch.undo()
    assert phases(bench)["unused"] == "archived", "the rename was made, and nothing but it counts"
    for place in ("life._laid", "store.sync_folder"):  # as it is written, and as it is moved
        monkeypatch.setattr(f"hermes_tool_workshop.{place}", dies)
        with pytest.raises(KeyboardInterrupt):
            life.go_back(bench.data, label)
        monkeypatch.undo()
    assert life.go_back(bench.data, label) == ["own_used"], "the other one was moved by then"
    assert phases(bench) == {"used": "active", "unused": "active", "kept": "pinned"}
    assert ToolStore(bench.data, ME.owner).ledger("own_used").version == 1


async def test_a_pinned_tool_is_not_removed_and_stays_pinned_in_its_next_version(bench):
    store = three(bench)
    with pytest.raises(UserError, match="own_kept is pinned"):
        say(bench, "remove kept")
    keep(bench, "kept", COUNT.replace("sum(", "0 + sum("))
    assert store.ledger("own_kept").pinned
    assert "no longer pinned" in say(bench, "pin kept --off")
    assert not store.ledger("own_kept").pinned


async def test_it_is_looked_after_once_a_week_for_the_owner_and_told_in_a_line(bench, clock, caplog):
    three(bench)
    said: list[str] = []
    ctx = SimpleNamespace(
        paths=SimpleNamespace(data=bench.data), config=Config(), owner=ME.owner, tell=said.append, log=None,
        program="hermes",
    )  # fmt: skip
    clock["days"] = 100
    await curating.look(ctx, Session(id="g", origin="cli", owner=Principal(person="ann")))
    assert "archived" not in phases(bench).values()
    await curating.look(ctx, ME)
    assert said == ["Put away, as not called for long: own_unused, own_used. See: hermes workshop life"]
    say(bench, "restore unused")
    ctx.config = Config(stale_days=1, archive_days=1)
    clock["days"] = 106
    await curating.look(ctx, ME)
    assert phases(bench)["unused"] != "archived", "not twice in a week"
    clock["days"] = 107
    await curating.look(ctx, ME)
    assert phases(bench)["unused"] == "archived"


def test_a_full_disk_takes_no_tool_away_as_one_goes_back(bench, monkeypatch):
    store = three(bench)
    label = life.backup(bench.data)
    keep(bench, "used", COUNT.replace("sum(", "2 * sum("))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("hermes_tool_workshop.disk.write_whole", full)
    with pytest.raises(OSError, match="No space"):
        life.go_back(bench.data, label)
    assert store.ledger("own_used").version == 2


def test_what_has_no_version_in_force_is_moved_aside_as_one_goes_back(bench):
    store = three(bench)
    label = life.backup(bench.data)
    (store.folder / "own_used" / "current").unlink()
    assert life.go_back(bench.data, label) == ["own_used"]
    assert store.ledger("own_used").version == 1


async def test_what_fails_each_time_makes_one_backup_a_week(bench, clock, caplog, monkeypatch):
    store = three(bench)
    (store.folder / ".archive").write_text("")  # nothing can be put there
    ctx = SimpleNamespace(
        paths=SimpleNamespace(data=bench.data), config=Config(), owner=ME.owner, tell=None, log=bench.shop.log,
        program="hermes",
    )  # fmt: skip
    for day in (100, 101, 102):
        clock["days"] = day
        await curating.look(ctx, ME)
    assert len(life.backups(bench.data)) == 1
    assert len(caplog.records) == 1


@pytest.mark.parametrize("report", ["[]", "{", '{"when": "x"}', '{"when": null}', '{"when": 1e300}'])
async def test_a_report_that_says_no_instant_keeps_nothing_from_being_looked_after(bench, clock, report):
    three(bench)
    (bench.data / ".curator.json").write_text(report)
    clock["days"] = 100
    said: list[str] = []
    ctx = SimpleNamespace(
        paths=SimpleNamespace(data=bench.data), config=Config(), owner=ME.owner, tell=said.append, program="hermes"
    )
    await curating.look(ctx, ME)
    assert len(said) == 1


def test_what_is_put_away_sooner_than_it_would_go_stale_is_put_away_then(bench, clock):
    three(bench)
    clock["days"] = 4
    settings = {"stale_days": 30, "archive_days": 3}
    assert "own_used: not called for 4 days" in say(bench, "tidy --yes", **settings)
    assert phases(bench) == {"used": "archived", "unused": "archived", "kept": "pinned"}


def test_a_folder_that_no_tool_can_be_called_like_is_none(bench):
    store = three(bench)
    shutil.copytree(store.folder / "own_used", store.folder / "own_\x1b]0;x\x07")
    assert "\x1b" not in say(bench, "life")


def test_a_backup_that_is_damaged_anywhere_is_told_as_that(bench):
    store = three(bench)
    (store.folder / "own_used" / "noise").write_bytes(random.Random(7).randbytes(200_000))
    label = life.backup(bench.data)
    place = bench.data / ".backups" / f"{label}.tar.gz"
    whole = place.read_bytes()
    for at in range(0, len(whole) - 16, len(whole) // 16):  # zeros may follow what is whole
        for damaged in (whole[:at], whole[:at] + bytes(8) + whole[at + 8 :]):
            place.write_bytes(damaged)
            with pytest.raises(UserError, match="cannot be read"):
                life.go_back(bench.data, label)


def test_a_backup_that_leads_elsewhere_is_refused_and_nothing_is_written(bench, tmp_path):
    three(bench)
    label = life.backup(bench.data)
    for name in (
        f"me/own_used/{tmp_path}/out",
        "me/../../out",
        ".backups/own_used/out",
        "me/used/out",
        "/own_used/out",
        "me/own_used",
    ):
        with tarfile.open(bench.data / ".backups" / f"{label}.tar.gz", "w:gz") as archive:
            info = tarfile.TarInfo()
            info.name, info.size = name, 1
            archive.addfile(info, io.BytesIO(b"x"))
        with pytest.raises(UserError, match="cannot be read"):
            life.go_back(bench.data, label)
    assert not list(tmp_path.rglob("out"))
