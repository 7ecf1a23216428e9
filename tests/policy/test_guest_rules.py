"""The rules for guests: each condition by itself."""

import re
from pathlib import Path

import pytest

from hermes_core.agent.policy.guests import Guests
from hermes_core.kinds import Tool
from hermes_core.testing import FakeWorkspace
from hermes_core.types import Effect, Feature, Principal, Session

HOST, ANNA, BEN = Principal(), Principal(person="anna"), Principal(person="ben")
ALL = frozenset({Effect.READ_FILES, Effect.WRITE_FILES})


async def _run(*_: object) -> str:
    return ""


def made(*effects: Effect) -> Tool:
    return Tool(name="t", description="x", params=object, run=_run, toolset="t", effects=frozenset(effects))


class Lodging:
    """The rules for Anna, who works in her folder and may read the skills."""

    def __init__(self, root: Path) -> None:
        self.guests = Guests(host=HOST, people=root / "people", trusted=["ben"])
        self.place, self.skills = FakeWorkspace(), root / "skills"
        self.folder = self.guests.folder(ANNA)
        self.folder.mkdir(parents=True)
        self.skills.mkdir()
        self.place.cwd = str(self.folder)

    def refusal(self, tool: Tool, *places: object, owner: Principal = ANNA, known: bool = True) -> str:
        keys = [key if str(key).startswith("host:") else f"file:{key}" for key in places] if known else None
        session = Session(id="s", origin="test", owner=owner)
        return self.guests.refusal(session, tool, keys, self.place, [str(self.skills)])


@pytest.fixture
def lodging(tmp_path: Path) -> Lodging:
    return Lodging(tmp_path)


def test_a_guest_writes_in_a_folder_of_their_own_and_nowhere_else(lodging: Lodging, tmp_path: Path) -> None:
    bens = lodging.guests.folder(BEN)
    bens.mkdir(parents=True)
    (lodging.folder / "link").symlink_to(bens)
    (lodging.folder / "skills").symlink_to(lodging.skills)
    elsewhere = [
        lodging.skills / "x", "skills/x", bens / "x", f"../../{bens.parent.name}/work/x", "link/x", "..", "../x", "~/x",
        Path.home() / "x", tmp_path / "x", "/", "/etc/x", f"{lodging.folder}2/x",
    ]  # fmt: skip
    for tool in (made(Effect.WRITE_FILES), made(*ALL), made(Effect.WRITE_FILES, Effect.NETWORK)):
        assert [place for place in ("x", "a/b/x", ".", lodging.folder / "x") if lodging.refusal(tool, place)] == []
        assert [place for place in elsewhere if not lodging.refusal(tool, place)] == []
        assert [place for place in elsewhere if not lodging.refusal(tool, "x", place)] == [], "as one of several"
    assert lodging.refusal(made(Effect.WRITE_FILES), "/x") == "/x is outside of your own folder"


def test_a_guest_reads_there_and_what_is_open_to_the_session(lodging: Lodging, tmp_path: Path) -> None:
    look = made(Effect.READ_FILES)
    assert lodging.refusal(look, "x", lodging.skills / "knots" / "SKILL.md", "host:good.org") == ""
    for place in (tmp_path / "x", lodging.guests.folder(BEN) / "x", f"{lodging.skills}2/x"):
        assert lodging.refusal(look, lodging.skills / "x", place)


def test_what_else_a_guest_may_and_may_not(lodging: Lodging) -> None:
    assert lodging.refusal(made(Effect.CONFIGURE)) == "only the owner of this Hermes changes its settings and tools"
    assert "does not say which files" in lodging.refusal(made(Effect.READ_FILES), known=False)
    assert lodging.refusal(made(Effect.SEND, Effect.NETWORK), known=False) == ""
    assert lodging.refusal(made(Effect.READ_FILES)) == "", "it touches none"
    assert "name anna in gateway.trusted_with_shell" in lodging.refusal(made(Effect.EXECUTE))
    assert lodging.refusal(made(Effect.EXECUTE), owner=BEN) == ""
    assert lodging.refusal(made(Effect.EXECUTE, Effect.CONFIGURE), owner=BEN).startswith("only the owner")
    lodging.place.features |= {Feature.ISOLATED}
    assert lodging.refusal(made(Effect.EXECUTE)) == ""
    assert lodging.refusal(made(Effect.WRITE_FILES), "/etc/x") == "", "it is a path of its own place"
    assert lodging.refusal(made(Effect.CONFIGURE)).startswith("only the owner")


def test_a_guests_folder_is_named_by_whom_it_is_for(lodging: Lodging) -> None:
    for person, name in (("Anna Lee", "anna-lee"), ("x" * 50, "x" * 40), ("-a_b-", "a-b"), ("É", "")):
        folder = lodging.guests.folder(Principal(person=person))
        assert re.fullmatch(rf"{name}{'-' if name else ''}[0-9a-f]{{16}}", folder.parent.name), person
        assert (folder.name, folder.parent.parent) == ("work", lodging.guests.people)


def test_the_host_is_no_guest_and_a_person_of_another_profile_is(lodging: Lodging) -> None:
    for effect in Effect:
        assert lodging.refusal(made(effect), "/etc/x", owner=HOST) == ""
    assert lodging.guests.is_guest(Principal(profile="work"))
    assert lodging.guests.folder(Principal(profile="work", person="anna")) != lodging.folder
    assert lodging.guests.folder(Principal(person="-.-")).parent.name[0] != "-", (
        "as a word of a command it is no option"
    )
    assert lodging.guests.closed(HOST) == (lodging.guests.people,)
    assert lodging.guests.closed(ANNA) == ()
