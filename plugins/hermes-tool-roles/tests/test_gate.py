"""The gate for people other than the owner: each condition by itself."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from hermes_core.testing import FakeWorkspace
from hermes_core.types import Effect, Feature, Principal, Session, Speaker
from hermes_tool_roles.config import Config, RoleSettings
from hermes_tool_roles.gate import Gate
from hermes_tool_roles.rights import HomeRoles

HOST, ANNA, BEN, CARL = Principal(), Principal(person="anna"), Principal(person="ben"), Principal(person="carl")
READ, WRITE, RUN = Effect.READ_FILES, Effect.WRITE_FILES, Effect.EXECUTE


class Lodging:
    """The gate before Anna, who works in her folder and may read the skills; Carl's commands stay behind a wall."""

    def __init__(self, root: Path) -> None:
        self.people, self.place, self.skills = root / "people", FakeWorkspace(), root / "skills"
        define = {"walled": RoleSettings(commands="walled"), "few": RoleSettings(commands="walled", hosts=["*.org"])}
        config = Config(
            define=define, people={"carl": "walled", "dora": "few", "eva": "guest"}, trusted_with_shell=["ben"]
        )
        roles = HomeRoles(config, host=HOST, now=lambda: datetime.now().astimezone())
        self.gate = Gate(roles, HOST, self.people)
        self.folder = self.folder_of(ANNA)
        self.folder.mkdir(parents=True)
        self.skills.mkdir()
        self.place.cwd = str(self.folder)

    def folder_of(self, owner: Principal) -> Path:
        return self.people / owner.person / "work"

    def refusal(
        self,
        effects: set[Effect],
        *places: object,
        owner: Principal = ANNA,
        known: bool = True,
        walled: bool = False,
        cwd: object = "",
        speaker: Speaker | None = None,
        further: Sequence[tuple[str, bool]] = (),
    ) -> str:
        keys = [key if str(key).startswith("host:") else f"file:{key}" for key in places] if known else None
        session = Session(id="s", origin="test", owner=owner, cwd=str(cwd or self.folder), speaker=speaker)
        verdict = self.gate.judge(
            session, frozenset(effects), self.place, walled=walled, opened=[str(self.skills)], touches=keys,
            further=further,
        )  # fmt: skip
        return verdict.reason if verdict else ""


@pytest.fixture
def lodging(tmp_path: Path) -> Lodging:
    return Lodging(tmp_path)


def test_a_guest_writes_in_a_folder_of_their_own_and_nowhere_else(lodging: Lodging, tmp_path: Path) -> None:
    bens = lodging.folder_of(BEN)
    bens.mkdir(parents=True)
    (lodging.folder / "link").symlink_to(bens)
    (lodging.folder / "skills").symlink_to(lodging.skills)
    elsewhere = [
        lodging.skills / "x", "skills/x", bens / "x", f"../../{bens.parent.name}/work/x", "link/x", "..", "../x", "~/x",
        Path.home() / "x", tmp_path / "x", "/", "/etc/x", f"{lodging.folder}2/x",
    ]  # fmt: skip
    for effects in ({WRITE}, {READ, WRITE}, {WRITE, Effect.NETWORK}):
        assert [place for place in ("x", "a/b/x", ".", lodging.folder / "x") if lodging.refusal(effects, place)] == []
        assert [place for place in elsewhere if not lodging.refusal(effects, place)] == []
        assert [place for place in elsewhere if not lodging.refusal(effects, "x", place)] == [], "as one of several"
    assert lodging.refusal({WRITE}, "/x") == "/x is outside of your own folder", "and says no path of this machine"


def test_a_guest_reads_there_and_what_is_open_to_the_session(lodging: Lodging, tmp_path: Path) -> None:
    assert lodging.refusal({READ}, "x", lodging.skills / "knots" / "SKILL.md", "host:good.org") == ""
    for place in (tmp_path / "x", lodging.folder_of(BEN) / "x", f"{lodging.skills}2/x"):
        assert lodging.refusal({READ}, lodging.skills / "x", place)


def test_a_session_that_works_elsewhere_has_no_folder(lodging: Lodging, tmp_path: Path) -> None:
    for cwd in (tmp_path, tmp_path / "people2" / "x", "/", "relative"):
        assert (
            lodging.refusal({READ}, lodging.folder / "x", cwd=cwd)
            == f"{lodging.folder / 'x'} is outside of your own folder"
        )
        assert lodging.refusal({READ}, tmp_path / "x", cwd=cwd)


@pytest.mark.parametrize(
    ("who", "isolated", "walled", "offline", "why"),
    [
        ("anna", False, False, False, "run only in an isolated workspace, and the owner has set up none"),
        ("anna", True, False, False, ""),
        ("anna", False, True, False, "run only in an isolated workspace"),
        ("ben", False, False, False, ""),
        ("carl", False, False, False, "commands of the role walled stay behind the wall"),
        ("carl", False, True, False, ""),
        ("carl", True, False, False, ""),
        ("dora", False, True, False, ""),
        ("dora", True, False, False, "the role few may reach some hosts only"),
        ("dora", True, False, True, ""),
        ("eva", True, False, False, "the role guest runs no commands"),
        ("owner", False, False, False, ""),
    ],
)
def test_where_commands_run(lodging: Lodging, who: str, isolated: bool, walled: bool, offline: bool, why: str) -> None:
    lodging.place.features |= {*([Feature.ISOLATED] if isolated else ()), *([Feature.OFFLINE] if offline else ())}
    said = lodging.refusal({RUN}, owner=Principal(person=who), walled=walled)
    assert why in said
    assert bool(why) is bool(said)


def test_who_speaks_counts_and_not_whose_session_it_is(lodging: Lodging) -> None:
    group = Principal(person="room#1")
    assert lodging.refusal({RUN}, owner=group, speaker=Speaker(person="ben")) == ""
    assert lodging.refusal({RUN}, owner=group, speaker=Speaker(person="anna"))
    assert lodging.refusal({RUN}, owner=group, speaker=Speaker(person="owner")), "the owner's power is not a group's"
    assert lodging.refusal({RUN}, owner=HOST, speaker=Speaker(person="anna")), "nor is it lent by their session"


def test_what_else_a_guest_may_and_may_not(lodging: Lodging) -> None:
    assert lodging.refusal({Effect.CONFIGURE}) == "only the owner of this Hermes changes its settings and tools"
    assert "does not say which files" in lodging.refusal({READ}, known=False)
    assert lodging.refusal({Effect.SEND, Effect.NETWORK}, known=False) == ""
    assert lodging.refusal({READ}) == "", "it touches none"
    assert lodging.refusal({RUN, Effect.CONFIGURE}, owner=BEN).startswith("only the owner")
    lodging.place.features |= {Feature.ISOLATED}
    assert lodging.refusal({WRITE}, "/etc/x") == "", "it is a path of its own place"
    assert lodging.refusal({Effect.CONFIGURE}).startswith("only the owner")


def test_the_host_is_no_guest(lodging: Lodging) -> None:
    every: list[Any] = [lodging.refusal({effect}, "/etc/x", owner=HOST) for effect in Effect]
    assert not any(every)
    assert lodging.refusal({WRITE}, "/etc/x", owner=Principal(profile="work")), "of another profile one is"


def test_what_is_opened_further_is_reached_and_nothing_beside_it(lodging: Lodging, tmp_path: Path) -> None:
    shown, given = tmp_path / "shown", tmp_path / "given"
    for folder in (shown, given):
        folder.mkdir()
        (folder / "out").symlink_to(tmp_path)
    further = [(str(shown), False), (str(given), True)]
    cells = [
        ({READ}, shown / "x", True), ({READ}, given / "x", True), ({WRITE}, given / "x", True), ({READ}, shown, True),
        ({WRITE}, shown / "x", False), ({READ, WRITE}, shown / "x", False), ({READ}, shown / "out" / "x", False),
        ({WRITE}, given / "out" / "x", False), ({READ}, f"{shown}2/x", False), ({READ}, shown / ".." / "x", False),
    ]  # fmt: skip
    assert [cell for cell in cells if (lodging.refusal(cell[0], cell[1], further=further) == "") is not cell[2]] == []
    assert [cell for cell in cells if lodging.refusal(cell[0], cell[1]) == ""] == [], "and not without it"
