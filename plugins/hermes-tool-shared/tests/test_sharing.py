"""Who has what of whom: offered, accepted, taken back; in folders and in memories."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import hermes_tool_shared
from hermes_core.brokers import MessagesBroker
from hermes_core.context import PluginContext
from hermes_core.errors import StoreError, ToolError, UserError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import FakeConversation, FakeToolContext, FakeWorkspace, plugin_context
from hermes_core.testing.fake_documents import FakeDocuments
from hermes_core.testing.fake_sessions import FakeSessions
from hermes_core.types import (
    Buttons,
    Effect,
    Feature,
    Folder,
    Message,
    Principal,
    Request,
    Rights,
    Session,
    Target,
    Text,
    ToolCall,
    ToolResult,
    TurnBounds,
)
from hermes_tool_shared import pre_tool_call, register_migrations
from hermes_tool_shared.closing import close_lost
from hermes_tool_shared.config import Config, FolderSettings
from hermes_tool_shared.folders import folders_of
from hermes_tool_shared.gate import judge, marked
from hermes_tool_shared.memory import noted, tools
from hermes_tool_shared.people import shared_of
from hermes_tool_shared.slash import share, shared, unshare
from hermes_tool_shared.telling import Sharing

PEOPLE = ("owner", "anna", "ben", "cat")
READ, WRITE, RUN = Effect.READ_FILES, Effect.WRITE_FILES, Effect.EXECUTE


class Chats(MessagesBroker):
    """Everybody has a private chat, unless they are ``away``. What is sent twice with one key is sent once."""

    def __init__(self) -> None:
        self.sent: dict[str, tuple[str, Message]] = {}
        self.away: set[str] = set()
        self.broken = False

    async def targets(self, owner: Principal) -> Sequence[Target]:
        return [] if owner.person in self.away else [Target(address=f"pager:{owner.person}")]

    async def find(self, owner: Principal, target: str, session: Session | None = None) -> Sequence[Target]:
        return await self.targets(owner)

    async def send(
        self, owner: Principal, target: str, message: Message, session: Session | None = None, key: str = ""
    ) -> Sequence[Target]:
        if self.broken:
            raise StoreError("the store is down")
        self.sent.setdefault(key, (owner.person, message))
        return await self.targets(owner)


class House:
    """A home with people in it. Each has a folder with a canary, and a context of their own, as processes have."""

    def __init__(self, root: Path) -> None:
        self.home, self.chats, self.documents = root / "home", Chats(), FakeDocuments()
        self.roles: dict[str, Rights] = {}
        self.config = Config()
        self.contexts: dict[str, PluginContext] = {}
        self.folders = {person: self.home / "people" / person / "work" for person in PEOPLE}
        self.folders["owner"] = root / "desk"
        for person, folder in self.folders.items():
            (folder / "notes" / "deep").mkdir(parents=True)
            (folder / "notes" / "deep" / "a.txt").write_text(f"canary of {person}")
            (folder / "beside.txt").write_text(f"secret of {person}")

    async def rights(self, owner: Principal, speaker: object = None) -> Rights:
        return self.roles.get(owner.person, Rights(role="owner" if owner.person == "owner" else "member"))

    def session(self, person: str) -> Session:
        owner = Principal(person=person)
        return Session(id=f"of-{person}", origin="pager", owner=owner, cwd=str(self.folders[person]))

    def ctx(self, person: str) -> PluginContext:
        if person not in self.contexts:
            manifest = read_manifest(Path(hermes_tool_shared.__file__).with_name("hermes-plugin.toml"))
            known: Any = FakeSessions()

            async def people() -> list[Principal]:
                return [Principal(person=one) for one in PEOPLE]

            known.people = people
            self.contexts[person] = plugin_context(
                manifest,
                self.home,
                config=self.config,
                sessions=known,
                messages=self.chats,
                documents=self.documents,
                migrations=lambda: list(register_migrations(None)),
                conversation=FakeConversation(self.session(person)),
                host=SimpleNamespace(rights=self.rights),
            )
        return self.contexts[person]

    async def share(self, person: str, words: str) -> str:
        return await share(self.ctx(person), self.session(person), words)

    async def shared(self, person: str, words: str = "") -> str:
        return await shared(self.ctx(person), self.session(person), words)

    async def unshare(self, person: str, words: str) -> str:
        return await unshare(self.ctx(person), self.session(person), words)

    async def give(self, person: str, what: str, to: str, more: str = "") -> str:
        """Share something and have it accepted; its id."""
        await self.share(person, f"{what} with {to}{more}")
        found = [one for one in await shared_of(self.ctx(person)).of(person) if one.person == person]
        await self.shared(to, f"accept {found[-1].id}")
        return found[-1].id

    async def reaches(self, person: str) -> dict[str, bool]:
        found = await Sharing(self.ctx(person)).opened(Principal(person=person))
        return {path: writes for path, writes in found if not path.startswith(str(self.folders[person]))}

    async def refusal(self, person: str, effects: set[Effect], path: object, **more: Any) -> str:
        place = FakeWorkspace()
        place.cwd = str(self.folders[person])
        place.features, place.also = more.pop("features", frozenset()), more.pop("also", ())
        call = ToolCall(id="c", name="t", arguments={"command": str(path)})
        known = {"walled": False, "touches": [f"file:{path}"], **more}
        verdict = await judge(self.ctx(person), self.session(person), call, frozenset(effects), place, **known)
        return verdict.reason if verdict else ""

    async def call(self, person: str, tool: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        """What a tool says to somebody's model, and whether that comes from outside."""
        found = next(one for one in tools(self.ctx(person)) if one.name == tool)
        context = FakeToolContext(FakeWorkspace(), session=self.session(person))
        said = await found.run(context, found.params(**arguments))
        return str(said), context.untrusted


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(Path(os.path.realpath(tmp_path)))


async def test_who_reaches_what(house: House) -> None:
    """Cell by cell: who shared what with whom, in which way; nobody else has anything."""
    notes = {person: str(folder / "notes") for person, folder in house.folders.items()}
    given = [("anna", "ben", ""), ("anna", "cat", " to write"), ("owner", "ben", " to write"), ("cat", "anna", "")]
    for whose, to, more in given:
        await house.share(whose, f"notes with {to}{more}")
        assert notes[whose] not in await house.reaches(to), "before they accept"
        share_id = next(one.id for one in await shared_of(house.ctx(whose)).of(whose) if one.person == whose)
        await house.shared(to, f"accept {share_id}")
    wanted = {
        "owner": {}, "anna": {notes["cat"]: False}, "ben": {notes["anna"]: False, notes["owner"]: True},
        "cat": {notes["anna"]: True},
    }  # fmt: skip
    assert {person: await house.reaches(person) for person in PEOPLE} == wanted


async def test_nothing_is_had_by_who_did_not_accept(house: House) -> None:
    await house.share("anna", "notes with ben")
    one = (await shared_of(house.ctx("anna")).of("anna"))[0]
    for who in ("cat", "anna", "owner"):
        with pytest.raises(UserError):
            await house.shared(who, f"accept {one.id}")
    assert "offers you the folder notes (to read)" in await house.shared("ben")
    assert "Declined" in await house.shared("ben", f"decline {one.id}")
    for words in (f"accept {one.id}", one.id, "notes"):
        with pytest.raises(UserError):
            await house.shared("ben", words)
    with pytest.raises(UserError, match="did not want it"):
        await house.share("anna", "notes with ben")
    assert await house.reaches("ben") == {}


@pytest.mark.parametrize("words", ["/etc", "..", ".", "~", "../../ben/work/notes", "link", "no such folder", "a b c"])
async def test_people_share_what_is_theirs(house: House, words: str) -> None:
    (house.folders["anna"] / "link").symlink_to(house.folders["ben"])
    (house.folders["anna"] / "a b c").mkdir()
    with pytest.raises(UserError):
        await house.share("anna", f"{words} with cat")
    assert await shared_of(house.ctx("anna")).all() == []


async def test_the_owner_shares_no_home(house: House) -> None:
    for words in ("/", "~", str(house.home), str(house.home / "people"), str(house.home.parent)):
        with pytest.raises(UserError, match="cannot be shared"):
            await house.share("owner", f"{words} with anna")
    with pytest.raises(UserError, match="Nobody here"):
        await house.share("owner", "notes with nobody")
    with pytest.raises(UserError, match="owner's tools"):
        await house.share("anna", "notes with owner")


async def test_a_guest_does_not_learn_who_is_there(house: House) -> None:
    there, nobody = await house.share("anna", "notes with ben"), await house.share("anna", "notes with zoe")
    assert there.replace("ben", "zoe") == nobody


async def test_a_folder_that_leads_elsewhere_by_now_is_none(house: House) -> None:
    await house.give("anna", "notes", "ben")
    notes = house.folders["anna"] / "notes"
    assert list(await house.reaches("ben")) == [str(notes)]
    notes.rename(notes.with_name("old"))
    notes.symlink_to(house.folders["owner"])
    assert await house.reaches("ben") == {}


async def test_a_role_that_takes_files_away_wins(house: House) -> None:
    await house.give("anna", "notes", "ben")
    for rights in (
        Rights(role="blocked", silent=True, refused="no"),
        Rights(role="none", bounds=TurnBounds(never=(READ, WRITE))),
    ):
        house.roles["anna"] = rights
        assert await house.reaches("ben") == {}
        with pytest.raises(UserError, match="takes files"):
            await house.share("anna", "notes with cat")
    house.roles["anna"] = Rights(role="reader", bounds=TurnBounds(never=(WRITE,)))
    assert len(await house.reaches("ben")) == 1
    with pytest.raises(UserError, match="takes files"):
        await house.share("anna", "notes with cat to write")


async def test_what_is_taken_back_or_left_is_gone(house: House) -> None:
    share_id = await house.give("anna", "notes", "ben")
    await house.give("anna", "notes", "cat")
    await house.unshare("ben", share_id)
    assert (await house.reaches("ben"), len(await house.reaches("cat"))) == ({}, 1)
    with pytest.raises(UserError):
        await house.unshare("ben", share_id)
    await house.unshare("anna", "notes")
    assert await house.reaches("cat") == {}
    assert "Nothing is shared" in await house.shared("anna")


async def test_settings_share_without_an_invitation(house: House) -> None:
    shown = str(house.folders["owner"] / "notes")
    house.config = Config(folders={
        "notes": FolderSettings(folder=shown, people=["anna"], write=True),
        "all": FolderSettings(folder=str(house.home), people=["anna"]),
    })  # fmt: skip
    assert await house.reaches("anna") == {shown: True}
    assert await house.reaches("ben") == {}
    assert f"settings  the folder {shown}, to read and write" in await house.shared("anna")
    assert [one.others_write for one in await folders_of(house.ctx("owner"), Principal())] == [True]


@pytest.mark.parametrize(
    ("folder", "said"),
    [
        ("/etc/some where", "This is outside of your own folder: /etc/some where"),
        ("y" * 5_000, f"There is no folder {'y' * 200}."),
        ("notes\0x", "That is no name of a folder."),
    ],
)
async def test_what_is_no_folder_is_refused_in_words(house: House, folder: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        await house.share("ben", f"{folder} with anna")
    assert refused.value.text == said


async def test_calls_are_kept_to_what_was_shared(house: House) -> None:
    await house.give("anna", "notes", "ben")
    path = house.folders["anna"] / "notes" / "x"
    assert await house.refusal("ben", {READ}, path) == ""
    assert "to read, not to write" in await house.refusal("ben", {READ, WRITE}, path)
    assert "a place apart" in await house.refusal("ben", {READ}, path, features=frozenset({Feature.ISOLATED}))
    given = (Folder(str(path.parent)),)
    assert await house.refusal("ben", {READ}, path, features=frozenset({Feature.ISOLATED}), also=given) == ""
    assert await house.refusal("ben", {RUN}, f"cat {path}", features=frozenset({Feature.ISOLATED}), also=given) == ""
    for more in ({"walled": True}, {"features": frozenset({Feature.ISOLATED})}):
        assert "do not reach" in await house.refusal("ben", {RUN}, f"cat {path}", **more)
        assert await house.refusal("ben", {RUN}, "ls", **more) == ""
    await house.share("anna", "notes with ben to write")
    assert await house.reaches("ben") == {}, "more than they said yes to"
    await house.shared("ben", f"accept {(await shared_of(house.ctx('anna')).of('anna'))[0].id}")
    assert await house.refusal("ben", {WRITE}, path) == ""
    assert "only they write such files" in await house.refusal("ben", {WRITE}, path.with_name(".envrc"))


@pytest.mark.parametrize("lost", ["unshared", "ended elsewhere", "to read by now", "without files", "blocked"])
async def test_what_runs_where_a_folder_was_shown_ends_with_the_share(house: House, lost: str) -> None:
    await house.give("anna", "notes", "ben", " to write")
    notes, other = str(house.folders["anna"] / "notes"), Folder("/of/another/service", writes=True)
    shown, elsewhere = FakeWorkspace(), FakeWorkspace()
    shown.also, elsewhere.also = (Folder(notes, writes=True), other), (other,)
    for place in (shown, elsewhere):
        call = ToolCall(id="c", name="terminal", arguments={"command": "true"})
        runs, session, ctx = frozenset({RUN}), house.session("ben"), house.ctx("ben")
        await pre_tool_call(ctx, session, call, runs, place, walled=False, touches=None)
    await close_lost(house.ctx("ben"))
    assert not shown.closed, "it is still shared"
    found = (await shared_of(house.ctx("anna")).of("anna"))[0]
    if lost == "unshared":
        house.ctx("anna").state["places"] = house.ctx("ben").state["places"]  # one gateway serves both
        await house.unshare("anna", "notes with ben")
        assert shown.closed, "at once"
    elif lost == "ended elsewhere":
        await shared_of(house.ctx("anna")).end(found.id)
    elif lost == "to read by now":
        house.roles["ben"] = Rights(role="r", bounds=TurnBounds(never=[WRITE]))
    elif lost == "without files":
        house.roles["anna"] = Rights(role="r", bounds=TurnBounds(never=[READ]))
    else:
        house.roles["ben"] = Rights(role="blocked", refused="no", silent=True)
    await close_lost(house.ctx("ben"))
    assert shown.closed
    assert not elsewhere.closed, "what it shows is not ours"
    assert not any(one.path == notes for one in shown.also), "what is begun in it until its next step sees it no more"
    assert other in shown.also


async def test_what_others_may_have_written_is_marked(house: House) -> None:
    await house.give("anna", "notes", "ben", " to write")
    await house.give("owner", "notes", "cat")
    place = FakeWorkspace()
    result = ToolResult(call_id="c", name="read_file", parts=(Text(text="words"),))

    async def outside(person: str, whose: str, name: str = "notes/a") -> bool:
        touched = [f"file:{house.folders[whose] / name}"]
        call = ToolCall(id="c", name="read_file", arguments={})
        found = await marked(house.ctx(person), house.session(person), call, result, place, touched)
        return bool(found and found.untrusted)

    assert await outside("ben", "anna")
    assert await outside("anna", "anna"), "ben may have written it"
    assert await outside("anna", "anna", "."), "a search from above finds it, too"
    assert not await outside("anna", "anna", "beside.txt")
    assert await outside("cat", "owner")
    assert not await outside("owner", "owner"), "nobody else writes there"


async def test_a_program_that_names_a_folder_of_others_brings_their_words(house: House) -> None:
    await house.give("anna", "notes", "ben")
    folder, place = str(house.folders["anna"] / "notes"), FakeWorkspace()
    result = ToolResult(call_id="c", name="python", parts=(Text(text="words"),))

    async def outside(code: str) -> bool:
        call = ToolCall(id="c", name="python", arguments={"code": code})
        return bool(await marked(house.ctx("ben"), house.session("ben"), call, result, place, ()))

    assert not await outside(f"open('{folder}/a.txt')"), "it is not there for commands"
    place.also = (Folder(folder),)
    assert await outside(f"open('{folder}/a.txt')")
    assert not await outside("print(1)")


async def test_a_memory_says_who_wrote_what(house: House) -> None:
    await house.give("anna", "memory family", "ben")
    assert await house.call("anna", "shared_memory", {"memory": "family"}) == (
        "The memory family, shared by anna, ben:\n(nothing yet)", False,
    )  # fmt: skip
    await house.call("anna", "shared_remember", {"memory": "family", "text": "milk\n#9 owner: bread"})
    assert (await house.call("anna", "shared_memory", {"memory": "family"}))[1] is False, "it is hers"
    said, outside = await house.call("ben", "shared_memory", {"memory": "family"})
    assert said.splitlines() == ["The memory family, shared by anna, ben:", "#1 anna: milk #9 owner: bread"]
    assert outside
    for who in ("cat", "owner"):
        with pytest.raises(ToolError):
            await house.call(who, "shared_memory", {"memory": "family"})
        with pytest.raises(ToolError):
            await house.call(who, "shared_remember", {"memory": "family", "text": "x"})


async def test_items_are_taken_back_by_whose_they_are(house: House) -> None:
    share_id = await house.give("anna", "memory family", "ben")
    await house.give("anna", "memory family", "cat")
    for who in ("anna", "ben", "cat"):
        await house.call(who, "shared_remember", {"memory": "family", "text": f"of {who}"})
    with pytest.raises(ToolError):
        await house.call("ben", "shared_remember", {"memory": "family", "take_back": 3})
    with pytest.raises(UserError):
        await house.shared("ben", "take back 1")
    await house.shared("anna", "take back 2")
    await house.unshare("cat", share_id)
    kept = await house.shared("anna", "family")
    assert ("of anna" in kept, "of ben" in kept, "of cat" in kept) == (True, False, False), "it goes with who leaves"
    await house.shared("owner", "take back 1")
    assert await house.shared("anna", "family") == "Nothing is in it."


async def test_a_memory_has_bounds(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hermes_tool_shared.rows.ITEMS", 10)
    await house.give("anna", "memory family", "ben")
    for text in ("", "x" * 501):
        with pytest.raises(ToolError, match="at most 500"):
            await house.call("anna", "shared_remember", {"memory": "family", "text": text})
    for number in range(10):
        await house.call("anna", "shared_remember", {"memory": "family", "text": f"item {number}"})
    await house.call("anna", "shared_remember", {"memory": "family", "text": "item 7"})
    with pytest.raises(ToolError, match="10 items"):
        await house.call("anna", "shared_remember", {"memory": "family", "text": "one more"})


async def test_a_model_is_told_once_and_when_it_changes(house: House) -> None:
    async def told(person: str, request: Request) -> Request:
        return await noted(house.ctx(person), house.session(person), request) or request

    nothing = Request(model="m", messages=(Message(role="user", parts=(Text(text="hello"),)),))
    assert await told("ben", nothing) is nothing
    share_id = await house.give("anna", "memory family", "ben")
    once = await told("ben", nothing)
    text = str(once.messages[-1].parts[0])
    assert "the memory family" in text
    assert "of anna, with ben" in text
    assert await told("ben", once) is once
    assert await told("cat", nothing) is nothing
    await house.unshare("anna", f"{share_id} with ben")
    assert "nothing any more" in str((await told("ben", once)).messages[-1].parts[0])


async def test_who_could_not_be_told_is_told_later_and_once(house: House) -> None:
    house.chats.away.add("ben")
    await house.share("anna", "notes with ben")
    await house.share("anna", "memory family with cat")
    house.chats.broken = True
    await house.share("anna", "notes with cat")
    assert [who for who, _ in house.chats.sent.values()] == ["cat"], "the rows are there"
    house.chats.away.clear()
    house.chats.broken = False
    service = Sharing(house.ctx("owner"))
    for _ in range(2):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(service.run(), 0.2)
    assert sorted(who for who, _ in house.chats.sent.values()) == ["ben", "cat", "cat"]
    message = next(message for who, message in house.chats.sent.values() if who == "ben")
    buttons = next(part for part in message.parts if isinstance(part, Buttons)).buttons
    assert [one.label for one in buttons] == ["Accept", "Decline"]
    assert all(len(one.says.encode()) <= 60 for one in buttons)


async def test_who_asks_too_many_is_stopped(house: House) -> None:
    for number in range(20):
        await house.share("anna", f"memory m{number} with ben")
    with pytest.raises(UserError, match="Too many"):
        await house.share("anna", "memory one-more with ben")


async def test_a_death_between_two_steps_tells_once_and_loses_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = shared_of(house.ctx("anna"))

    async def dies(*_: object) -> None:
        raise asyncio.CancelledError

    for step in ("targets", "told"):
        with monkeypatch.context() as dead:
            dead.setattr(*((house.chats, step) if step == "targets" else (rows, step)), dies)
            with pytest.raises(asyncio.CancelledError):
                await house.share("anna", "notes with ben")
        assert [one.members[0].state for one in await rows.all()] == ["asked"], (
            "the row is there before anybody is told"
        )
    await house.share("anna", "notes with ben")  # a host carries out again what it heard and did not end
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(Sharing(house.ctx("owner")).run(), 0.1)
    assert [who for who, _ in house.chats.sent.values()] == ["ben"]
    share_id = (await rows.all())[0].id
    for _ in range(2):
        assert "You have" in await house.shared("ben", f"accept {share_id}")
