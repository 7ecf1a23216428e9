"""What guards the agent is found by whatever name a tool has for it, and all else is let be."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from hermes_closed.closed import closed, vital_place
from hermes_core.agent.policy.guarded import guarded_paths, guarded_place, readable
from hermes_core.config.paths import Home
from hermes_core.config.settings import load_settings
from hermes_core.types import Session

KEPT = ["nothere.yaml", "config.yaml", ".env", "plugins", "cache", "skills"]


class Person:
    """A person's folder: ``hers`` is the home of Hermes, ``work`` holds links to it, what is open may be read."""

    def __init__(self, root: Path) -> None:
        self.root, self.hers, self.work, self.tidy = root, root / "hers", root / "work", root / "hers/skills/tidy"
        for name in ("hers/config.yaml", "hers/.env", "hers/plugins/p.py", "hers/skills/tidy/SKILL.md", "work/sub/x"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("x")
        for name in ("me", "other"):
            (root / "hers/cache/outputs" / name).mkdir(parents=True)
        (root / "link").symlink_to(self.hers)
        (root / "stored.env").write_text("x")
        (self.work / "up").symlink_to(root)
        (self.work / "folder").symlink_to(self.hers)
        (self.work / "skl").symlink_to(self.hers / "skills")
        (self.work / "twin").hardlink_to(self.hers / "config.yaml")
        (self.work / "to-twin").symlink_to("twin")
        (self.work / "pair").hardlink_to(self.work / "sub/x")
        (self.tidy / "evil").symlink_to(self.hers / ".env")
        self.guarded = [*(self.hers / name for name in KEPT), root / "link/lost.db"]
        self.opened = (str(self.hers / "skills"), str(self.hers / "cache/outputs/me"))


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("NOT", raising=False)
    return Person(tmp_path)


def guarded_path(word: str, cwd: str, guarded: Sequence[Path], *, below: bool = False) -> str:
    return closed(tuple(guarded)).why(word, cwd, below=below)


def test_a_tools_path_is_known_by_any_name_of_it(person: Person) -> None:
    work, root, guarded = str(person.work), str(person.root), person.guarded
    rows = [
        ("sub/x", work, True), ("pair", work, True), ("twin", work, False), ("folder", work, False),
        ("folder/new", work, True), ("../hers/config.yaml", work, False), ("hers/.env", root, False),
        ("skl/tidy/SKILL.md", work, False), ("~/hers/.env", "", False), ("x", "", True), ("", work, True),
        ("", str(person.hers), False),
    ]  # fmt: skip
    assert [row for row in rows if bool(guarded_place(row[0], row[1], guarded)) is row[2]] == []
    read = [("skl/tidy/SKILL.md", True), ("skl", True), ("skl/tidy/evil", False), ("folder", False), ("twin", False)]
    wrong = [row for row in read if bool(guarded_place(row[0], work, guarded, person.opened)) is row[1]]
    assert wrong == []
    assert guarded_path(str(person.hers), work, guarded) == ""
    assert "nothere.yaml belongs" in guarded_path(str(person.hers), work, guarded, below=True)
    assert guarded_path("x", f"{work}/../hers", guarded) == ""
    assert guarded_path("a/b\0c", work, guarded) == ""
    longest = f"{person.hers}/plugins/".ljust(4096, "x")
    assert guarded_path(longest, work, guarded)
    assert guarded_path(f"{longest}x", work, guarded) == "", "no system opens it"
    assert guarded_path("config.yaml", f"{work}/../hers", guarded)


def test_what_is_closed_stays_so_within_what_is_open(tmp_path: Path) -> None:
    (tmp_path / "box/open/deep").mkdir(parents=True)
    guarded, opened = (
        [tmp_path / "box", tmp_path / "box/open/key", tmp_path / "box/open/deep"],
        (f"{tmp_path}/box/open",),
    )
    for place, free in (("open/x", True), ("open", False), ("open/key", False), ("open/deep/x", False), ("x", False)):
        assert bool(guarded_place(f"{tmp_path}/box/{place}", "/", guarded, opened)) is not free, place
    itself = [tmp_path / "box/open"]
    assert guarded_place(f"{tmp_path}/box/open/x", "/", itself, opened) == ""


def test_a_guarded_file_that_is_a_link_is_guarded_at_both_ends_and_when_it_changes(tmp_path: Path) -> None:
    config, stored, other = tmp_path / "config.yaml", tmp_path / "stored.yaml", tmp_path / "other.yaml"
    stored.write_text("x")
    other.write_text("y")
    config.symlink_to(stored)
    for word in ("config.yaml", "stored.yaml", "./stored.yaml"):
        assert guarded_path(word, str(tmp_path), [config]), word
    config.unlink()
    config.symlink_to(other)
    stored.unlink()
    stored.symlink_to(other)
    for word in ("config.yaml", "stored.yaml"):
        assert guarded_path(word, str(tmp_path), [config]), word


def test_what_is_guarded_of_a_home_and_of_those_beside_it(tmp_path: Path) -> None:
    main, work = Home(tmp_path), Home(tmp_path, "work")
    (tmp_path / "profiles/play").mkdir(parents=True)
    work.root.mkdir(parents=True)

    def of(home: Home) -> set[str]:
        return {os.path.relpath(path, tmp_path) for path in guarded_paths(load_settings(home))}

    kept = {"config.yaml", ".env", "plugins.lock", "plugins", "sessions", "logs", "data", "SOUL.md", "memories"}
    kept |= {"skills.lock", "state.db", "state.db-wal", "state.db-shm"}
    theirs = os.path.relpath("/etc/hermes/config.yaml", tmp_path)  # an administrator's
    caches = {f"cache/{name}" for name in ("config.json", "plugins.json", "keys.json", "faults.json", "crash_markers")}
    assert of(main) == {*kept, *caches, theirs, "active_profile", "profiles"}
    own = {f"profiles/work/{name}" for name in kept | caches}
    assert of(work) == {*own, theirs, "active_profile", "profiles/play", *kept, "cache", "skills"}


def test_what_a_session_may_read_of_a_home(tmp_path: Path) -> None:
    def of(**fields: str) -> Sequence[str]:
        return readable(Home(tmp_path), Session(origin="test", **fields))

    outputs = Home(tmp_path).outputs
    assert of(id="me") == (f"{tmp_path}/skills", f"{outputs}/me")
    assert of(id="me", parent="boss") == (f"{tmp_path}/skills", f"{outputs}/me", f"{outputs}/boss")


@pytest.mark.parametrize("odd", ["a\0b", "*\0", "$X\0", "a\ud800b", "\udfff"])
def test_what_no_system_takes_for_a_name_is_refused_in_words(person: Person, odd: str) -> None:
    guarded = [person.hers / name for name in KEPT]
    assert guarded_place(odd, str(person.work), guarded) == "no file can have such a name"
    assert (
        guarded_place(odd, str(person.work), guarded, [str(person.hers / "skills")]) == "no file can have such a name"
    )
    assert vital_place(f"x{odd}/", str(person.work)) == ""


def test_a_name_of_other_bytes_than_text_is_a_name(person: Person) -> None:
    guarded = [person.hers / name for name in KEPT]
    assert guarded_place("caf\udce9", str(person.work), guarded) == ""


def test_a_link_to_a_guarded_file_is_guarded(tmp_path: Path) -> None:
    kept = tmp_path / "config.yaml"
    kept.write_text("x")
    (tmp_path / "innocent").symlink_to(kept)
    (tmp_path / "hard").hardlink_to(kept)
    for word in ("innocent", "./innocent", "hard", "./hard"):
        assert guarded_path(word, str(tmp_path), [kept]), word
    for word in ("innocent", "Config.YAML", "./config.yaml ", "config.yaml:x/../config.yaml"):
        assert guarded_place(word, str(tmp_path), [kept]), word


@pytest.mark.parametrize("word", ["", "\0", "x" * 10_000, "\ud800", "~nobody-here/x"])
def test_odd_words_are_survived(word: str) -> None:
    assert isinstance(guarded_path(word, "/work", [Path("/srv/hermes/.env")]), str)


def test_what_plugins_keep_is_closed_to_tools(tmp_path: Path) -> None:
    """Among it stand the hashes of skills that a person accepted: a tool that writes them accepts for the person."""
    guarded = guarded_paths(load_settings(Home(tmp_path)))
    assert guarded_path(str(tmp_path / "data" / "tool-skills" / "skills.lock"), "/", guarded)
    assert not guarded_path(str(tmp_path / "skills" / "tidy" / "SKILL.md"), "/", guarded)
