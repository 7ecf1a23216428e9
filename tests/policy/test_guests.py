"""People other than the owner: what they may do on somebody else's machine, and what not."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from hermes_core.hooks import hookimpl
from hermes_core.kinds import tool
from hermes_core.testing import Call
from hermes_core.types import Effect, Failed, Principal, Question, Returned, Session, Text, Verdict

ANNA, BEN = Principal(person="telegram:7"), Principal(person="ben")
MODULES = ("tool_files", "tool_terminal", "backend_local", "tool_skills", "tool_roles")


class House:
    """A Hermes on this machine, with things of its owner, and calls that people have their model make."""

    def __init__(self, hermes: Any, scripted: Any) -> None:
        self.hermes, self.model, self.asked = hermes, scripted(), list[Question]()
        hermes.tmp_plugin(self.model)
        self.answer = Verdict(outcome="allow", choice="once")
        for module in MODULES:
            hermes.tmp_plugin(f"hermes_{module}")
        hermes.configure({"terminal.backend": "local", "terminal.cwd": str(hermes.workspace.folder)})
        self.work = hermes.workspace.folder
        (self.work / "secret.txt").write_text("The safe is behind the picture.")

    def folder(self, owner: Principal) -> Path:
        return Path(self.hermes.runtime.guests.folder(owner))

    async def calls(self, owner: Principal, *calls: Call, ask: bool = True) -> list[str]:
        """What the calls of one turn came to."""

        async def person(question: Question) -> Verdict:
            self.asked.append(question)
            return self.answer

        self.model.add(*([call] for call in calls), "done")
        turn = self.hermes.runtime.turns.run("go", owner=owner, ask=person if ask else None)
        events = [event async for event in turn]
        assert not [event for event in events if isinstance(event, Failed)]
        results = [event.result for event in events if isinstance(event, Returned)]
        return ["".join(p.text for p in one.parts if isinstance(p, Text)) for one in results]


@pytest.fixture
def house(hermes: Any, scripted: Any) -> House:
    return House(hermes, scripted)


def read(path: object) -> Call:
    return Call("read_file", {"path": str(path)})


def write(path: object, content: str = "x") -> Call:
    return Call("write_file", {"path": str(path), "content": content})


def run(command: str) -> Call:
    return Call("terminal", {"command": command})


async def test_a_guest_works_in_a_folder_of_their_own(house: House) -> None:
    _, shown, listed = await house.calls(
        ANNA, write("a/note.txt", "mine"), read("a/note.txt"), Call("list_files", {"path": ".", "depth": 2})
    )
    assert (house.folder(ANNA) / "a" / "note.txt").read_text() == "mine"
    assert "mine" in shown
    assert "note.txt" in listed
    assert house.asked == []
    assert house.folder(ANNA).stat().st_mode & 0o077 == 0
    assert [path.name for path in house.work.iterdir()] == ["secret.txt"]


PLACES = [
    "{work}/secret.txt",
    "/etc/hostname",
    "~/.bashrc",
    "../../../config.yaml",
    "..",
    "../../{ben}/work/mine.txt",
    "{folder}/../../{ben}/work/mine.txt",
    "link/secret.txt",
    "leaf.txt",
    "/proc/self/environ",
]


@pytest.mark.parametrize("place", PLACES)
async def test_nothing_beside_it_is_read_or_written(house: House, place: str) -> None:
    mine, bens = house.folder(ANNA), house.folder(BEN)
    bens.mkdir(parents=True)
    mine.mkdir(parents=True)
    (bens / "mine.txt").write_text("Ben's own.")
    (mine / "link").symlink_to(house.work)
    (mine / "leaf.txt").symlink_to(house.work / "secret.txt")
    path = place.format(work=house.work, folder=mine, ben=bens.parent.name)
    told = await house.calls(
        ANNA,
        read(path),
        write(path, "Anna was here."),
        Call("search_files", {"pattern": ".", "path": path}),
        Call("list_files", {"path": path}),
        Call("edit_file", {"path": path, "old": "e", "new": "E", "replace_all": True}),
    )
    assert len(told) == 5
    assert all("was not run" in one or "was not opened" in one for one in told), told
    assert not any(words in "".join(told) for words in ("picture", "Ben's own"))
    assert (house.work / "secret.txt").read_text() == "The safe is behind the picture."
    assert (bens / "mine.txt").read_text() == "Ben's own."
    assert house.asked == []


async def test_what_lies_in_it_is_found_and_what_links_lead_to_is_not(house: House) -> None:
    mine = house.folder(ANNA)
    mine.mkdir(parents=True)
    (mine / "link").symlink_to(house.work)
    (mine / "here.txt").write_text("The picture of the safe.")
    (found,) = await house.calls(ANNA, Call("search_files", {"pattern": "safe"}))
    assert "here.txt" in found
    assert "behind" not in found


async def test_a_guest_reads_skills_and_writes_none(house: House) -> None:
    skills = house.hermes.runtime.home.root / "skills" / "knots"
    skills.mkdir(parents=True)
    (skills / "SKILL.md").write_text("---\nname: knots\ndescription: Tie knots.\n---\nOver and under.\n")
    shown, refused = await house.calls(ANNA, read(skills / "SKILL.md"), write(skills / "SKILL.md"))
    assert "Over and under" in shown
    assert "was not run" in refused
    assert (skills / "SKILL.md").read_text().endswith("Over and under.\n")


async def test_the_owners_tools_leave_the_folders_of_guests_alone(house: House) -> None:
    mine = house.folder(ANNA)
    mine.mkdir(parents=True)
    (mine / "note.txt").write_text("Anna's own.")
    owner = house.hermes.runtime.owner
    told = await house.calls(owner, read(mine / "note.txt"), run(f"cat {mine}/note.txt"), write(mine / "note.txt"))
    assert all("was not run" in one for one in told), told
    assert (mine / "note.txt").read_text() == "Anna's own."


async def test_commands_are_refused_on_this_machine_in_every_mode(house: House) -> None:
    house.hermes.configure({"policy.mode": "off", "policy.allow": ["*"]})
    told = await house.calls(ANNA, run("touch canary"))
    (words,) = told
    assert words.startswith("terminal was not run: commands of people other than the owner run only in an isolated")
    assert words.endswith("isolated workspace, and the owner has set up none"), "it names no setting and no path"
    assert not (house.folder(ANNA) / "canary").exists()


@pytest.mark.parametrize("mode", ["ask", "smart", "off"])
@pytest.mark.parametrize(("approvals", "to"), [("admin", "admin"), ("self", "person")])
async def test_who_is_trusted_with_the_shell_is_asked_about_all_the_same(
    house: House, mode: str, approvals: str, to: str
) -> None:
    trusted = {"roles.trusted_with_shell": ["telegram:7"], "roles.approvals": approvals}
    house.hermes.configure({"policy.mode": mode, **trusted})
    await house.calls(ANNA, run("touch canary"))
    assert [question.to for question in house.asked] == [to]
    assert (house.folder(ANNA) / "canary").exists()
    store = await house.hermes.runtime.store()
    (row,) = await store.approvals.list(ANNA, closed=True, admin=approvals == "admin")
    assert (row.addressee, row.owner) == ("admin" if approvals == "admin" else "", ANNA)


async def test_with_nobody_to_ask_it_is_no(house: House) -> None:
    house.hermes.configure({"roles.trusted_with_shell": ["*"], "policy.mode": "off"})
    (told,) = await house.calls(ANNA, run("touch canary"), ask=False)
    assert "Nobody is here to ask" in told
    assert not (house.folder(ANNA) / "canary").exists()


async def test_what_an_admin_is_asked_is_put_to_no_way_of_a_plugin(house: House) -> None:
    seen: list[str] = []

    @hookimpl
    async def approve(session: Session, question: Question) -> Verdict | None:
        seen.append(question.subject)
        return Verdict(outcome="allow", choice="once", by="a plugin")

    house.hermes.configure({"roles.trusted_with_shell": ["*"]})
    house.hermes.tmp_plugin(approve)
    await house.calls(ANNA, run("touch canary"), ask=False)
    assert seen == []
    await house.calls(house.hermes.runtime.owner, run("touch canary"), ask=False)


async def test_only_the_owner_changes_settings_and_tools(house: House) -> None:
    @tool(effects={Effect.CONFIGURE}, touches=lambda _: ())
    async def rewire(_: "Nothing") -> str:
        """Change everything."""
        return "rewired"

    house.hermes.configure({"roles.trusted_with_shell": ["*"], "policy.mode": "off"})
    house.hermes.tmp_plugin(rewire)
    (told,) = await house.calls(ANNA, Call("rewire", {}))
    assert told == "rewire was not run: only the owner of this Hermes changes its settings and tools"


async def test_a_tool_that_does_not_say_which_files_it_reads_is_not_for_guests(house: House) -> None:
    @tool(effects={Effect.READ_FILES})
    async def peek(_: "Nothing") -> str:
        """Look somewhere."""
        return (house.work / "secret.txt").read_text()

    house.hermes.tmp_plugin(peek)
    (told,) = await house.calls(ANNA, Call("peek", {}))
    assert "does not say which files it touches" in told


async def test_a_gate_that_knows_a_command_only_looks_does_not_let_it_look_here(house: House) -> None:
    house.hermes.tmp_plugin("hermes_tool_guard")
    (told,) = await house.calls(ANNA, run(f"cat {house.work}/secret.txt"))
    assert "run only in an isolated workspace" in told


@frozen
class Nothing:
    """No arguments."""


def folders(hermes: Any, people: Sequence[Principal]) -> list[str]:
    return [str(hermes.runtime.guests.folder(one)) for one in people]


def test_no_two_persons_have_one_folder_and_none_leads_out(hermes: Any) -> None:
    names = [
        "anna",
        "Anna",
        "an na",
        "an-na",
        "telegram:7",
        "telegram-7",
        "telegram#7",
        "../..",
        ".",
        "",
        "ä",
        "x" * 300,
    ]
    people = [Principal(person=name) for name in names] + [Principal(profile="work", person="anna")]
    made = folders(hermes, people)
    assert len({path.lower() for path in made}) == len(people)
    root = hermes.runtime.home.root / "people"
    assert all(Path(path).parent.parent == root and Path(path).name == "work" for path in made)
    assert all(len(Path(path).parent.name) < 100 for path in made)


async def test_the_mode_is_not_for_guests_to_change(hermes: Any, scripted: Any) -> None:
    hermes.configure({"policy.mode": "off"})
    hermes.tmp_plugin(scripted())
    hermes.tmp_plugin("hermes_tool_commands")
    session = (await hermes.runtime.sessions.take("s", "telegram", ANNA)).session
    with pytest.raises(Exception, match="Only the owner of this Hermes changes what needs a yes"):
        await hermes.slash("/permission off", session)
    assert str(await hermes.slash("/permission", session)).startswith("Mode: ask")
    mine = (await hermes.runtime.sessions.take("mine", "cli", hermes.runtime.owner)).session
    assert str(await hermes.slash("/permission ask", mine)).startswith("Mode: ask")


async def test_an_embedding_programs_owner_is_at_home(hermes: Any, scripted: Any) -> None:
    hermes._owner = ANNA
    hermes.tmp_plugin("hermes_tool_files")
    (hermes.workspace.folder / "note.txt").write_text("mine")
    hermes.configure({"terminal.cwd": str(hermes.workspace.folder)})
    hermes.tmp_plugin(scripted([read("note.txt")], "done"))
    events = [event async for event in hermes.runtime.turns.run("go")]
    assert "mine" in json.dumps([str(e.result) for e in events if isinstance(e, Returned)])


@pytest.mark.real
async def test_in_an_isolated_workspace_a_guest_runs_commands_and_sees_nothing_of_the_machine(house: House) -> None:
    house.hermes.tmp_plugin("hermes_backend_bubblewrap")
    house.hermes.configure({"roles.backend": "bubblewrap"})
    bens = house.folder(BEN)
    bens.mkdir(parents=True)
    (bens / "mine.txt").write_text("Ben's own.")
    home = house.hermes.runtime.home.root
    told = await house.calls(
        ANNA,
        run("echo hello > note.txt && cat note.txt && pwd"),
        run(f"cat {house.work}/secret.txt {bens}/mine.txt {home}/state.db; ls -A {home} {home}/people"),
        read("note.txt"),
        read(house.work / "secret.txt"),
    )
    assert "hello" in told[0]
    assert (house.folder(ANNA) / "note.txt").read_text() == "hello\n"
    assert "hello" in told[2]
    assert not any(words in "".join(told) for words in ("picture", "Ben's own", "config.yaml", bens.parent.name + "\n"))
    assert house.asked == []
    owner = house.hermes.runtime.owner
    assert house.hermes.runtime.workspaces.backend(owner) == "local"
