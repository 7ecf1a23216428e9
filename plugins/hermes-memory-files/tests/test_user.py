"""Who the person is: shown to them, changed by them, told to every conversation of theirs and to nobody else's."""

import pytest

from hermes_core.errors import UserError
from hermes_core.kinds import Memory, tool
from hermes_core.types import Memo, Principal, Session, Source
from hermes_memory_files import pending
from hermes_memory_files.changes import Operation
from hermes_memory_files.memory import FilesMemory

BEN = Principal(person="ben")
HERE = Session(id="s", origin="cli")


def of(hermes) -> FilesMemory:
    hermes.tmp_plugin("hermes_memory_files")
    return hermes.runtime.memory.of()[1]


async def test_what_a_person_says_of_themselves_is_told_to_their_conversations_alone(hermes) -> None:
    memory = of(hermes)
    assert "Nothing is known of you" in await hermes.command("user")
    await hermes.command("user add", "I", "live", "in", "Daegu.")
    await hermes.slash("/user add I cook.", HERE)
    await hermes.command("user add", "Sleeps late.", "--person", "ben")
    mine = Session(id="s", origin="cli", owner=hermes.runtime.owner)
    his = Session(id="t", origin="telegram", owner=BEN)
    assert "I live in Daegu." in await memory.brief(mine)
    assert "Sleeps late." not in await memory.brief(mine)
    assert "Daegu" not in await memory.brief(his)
    shown = await hermes.slash("/user", HERE)
    assert shown == (await hermes.command("user")).rstrip("\n")
    assert "- I live in Daegu.  (you said so)" in shown
    assert "Sleeps late." not in shown


async def test_what_the_agent_noted_says_so(hermes) -> None:
    memory = of(hermes)
    outside = Source(by="model", session_id="s", trusted=False)
    memory.store(hermes.runtime.owner).change("user", outside, lambda _: ["Works nights."])
    told = await hermes.command("user")
    assert "- Works nights.  (noted by the agent, after text from outside was read)" in told


async def test_what_a_person_forgets_does_not_come_back_by_what_waits(hermes) -> None:
    memory, me = of(hermes), hermes.runtime.owner
    store, model = memory.store(me), Source(by="model")
    for text in ("Canary-4711 is the door code.", "Likes tea."):
        await hermes.command("user add", text)
    merged = [
        Operation(action="replace", old="likes tea", text="Likes tea; Canary-4711."),
        Operation(action="remove", old="Canary-4711 is the door code."),
    ]
    pending.propose(store, "user", merged, model)
    other = pending.propose(store, "user", [Operation(action="replace", old="tea", text="Likes coffee.")], model)
    [memo] = await memory.search(me, "4711", 5)
    await hermes.command("memory forget", memo.id)
    assert [one.id for one in pending.waiting(store)] == [other.id]
    assert not [path for path in store.folder.rglob("*") if path.is_file() and "Canary" in path.read_text()]


async def test_what_was_let_go_of_before_can_be_forgotten_too(hermes) -> None:
    store = of(hermes).store(hermes.runtime.owner)
    await hermes.command("user add", "Canary-4711 is the door code.")
    store.change("user", Source(by="model"), lambda _: ["The door has a code."], why="replace")
    gone = await hermes.command("memory list", "--gone")
    await hermes.command("memory forget", next(line for line in gone.splitlines() if "Canary" in line).split()[0])
    assert store.archived() == []
    assert store.entries("user") == ("The door has a code.",)


async def test_what_cannot_be_read_is_erased_all_the_same(hermes) -> None:
    store = of(hermes).store(hermes.runtime.owner)
    await hermes.command("user add", "Likes tea.")
    store.path("memory").write_bytes(b"\xff\xfe")
    await hermes.command("memory erase", "--yes")
    assert not [path for path in store.folder.rglob("*") if path.is_file() and path.name != ".lock"]


async def test_what_a_person_forgets_leaves_no_byte_in_the_memory(hermes) -> None:
    memory, me = of(hermes), hermes.runtime.owner
    store = memory.store(me)
    for text in ("Canary-4711 is the door code.", "Canary-4712 too."):
        await hermes.command("user add", text)
    store.change("user", Source(by="model"), lambda entries: entries[1:], why="remove")  # the tool: it is kept aside
    assert "Canary-4711" in (store.folder / "archive.jsonl").read_text()
    await hermes.command("user add", "Canary-4711 is the door code.")
    await hermes.slash("/user forget 4711", HERE)
    [memo] = await memory.search(me, "4712", 5)
    await hermes.command("memory forget", memo.id)
    left = [path.read_text() for path in store.folder.rglob("*") if path.is_file()]
    assert not [text for text in left if "Canary" in text]
    with pytest.raises(UserError, match="No entry"):
        await hermes.slash("/user forget 4711", HERE)


async def test_an_edit_counts_whole_or_not_at_all(hermes, monkeypatch) -> None:
    import click

    memory, me = of(hermes), hermes.runtime.owner
    store = memory.store(me)
    await hermes.command("user add", "One.")
    monkeypatch.setattr(click, "edit", lambda text, **_: text.replace("One.", "Two.") + "\n§\nThree.\n")
    await hermes.command("user edit")
    assert store.entries("user") == ("Two.", "Three.")
    monkeypatch.setattr(click, "edit", lambda text, **_: "x" * 2_000)
    with pytest.raises(UserError, match="too much"):
        await hermes.command("user edit")

    def meanwhile(text, **_):
        store.change("user", Source(by="model"), lambda entries: (*entries, "Four."))
        return "Five."

    monkeypatch.setattr(click, "edit", meanwhile)
    with pytest.raises(UserError, match="meanwhile"):
        await hermes.command("user edit")
    monkeypatch.setattr(click, "edit", lambda text, **_: None)
    await hermes.command("user edit")
    assert store.entries("user") == ("Two.", "Three.", "Four.")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("many", [50, pytest.param(1_000, marks=pytest.mark.long)])
async def test_what_is_forgotten_however_much_leaves_no_byte(tmp_path, many) -> None:
    from hermes_memory_files.config import Config

    memory, me = FilesMemory(tmp_path, config=Config(memory_chars=1_000_000)), Principal()
    kept = [await memory.add(me, f"canary{number:04d}x is a fact.", Source(by="user")) for number in range(many)]
    memory.store(me).change("memory", Source(by="model"), lambda entries: entries[: many // 2], why="remove")
    for memo in kept:
        await memory.forget(me, memo.id)
    left = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"canary" not in left


class Elsewhere(Memory):
    """Another memory, which keeps nothing."""

    name = "elsewhere"

    async def add(self, owner, text, source):
        return Memo(id="1", text=text, source=source)

    async def search(self, owner, query, limit):
        return ()

    async def forget(self, owner, memo_id):
        return None


@tool(name="elsewhere_search", toolset="memory")
async def elsewhere() -> str:
    """Search elsewhere."""
    return ""


@pytest.mark.parametrize(("provider", "told"), [("elsewhere", 1), ("files", 1), ("", 0)])
async def test_who_a_person_is_is_told_once_whichever_memory_is_in_use(hermes, scripted, provider, told) -> None:
    asked = scripted("Hello.")
    hermes.tmp_plugin(asked)
    hermes.tmp_plugin(Elsewhere(), elsewhere, name="elsewhere")
    hermes.tmp_plugin("hermes_memory_files")
    hermes.configure({"memory.provider": provider})
    await hermes.command("user add", "I live in Daegu.")
    async for _ in hermes.turn("Hi.", session="s"):
        pass
    system = "".join(part.text for part in asked.requests[-1].messages[0].parts)
    assert system.count("I live in Daegu.") == told
