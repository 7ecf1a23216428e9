"""With approval nothing a model wants to remember is kept before its person says so, each for themselves."""

import json

import pytest

from hermes_core.errors import UnknownName, UserError
from hermes_core.testing import Call
from hermes_core.types import Principal, Returned, Session, Source, Speaker, Text
from hermes_memory_files import pending
from hermes_memory_files.changes import Operation
from hermes_memory_files.memory import FilesMemory

ME, BEN = Principal(), Principal(person="ben")
MODEL = Source(by="model", session_id="s")
TEA = {"action": "add", "text": "Ada likes tea.", "target": "user"}


async def said(hermes, text="go", session="s") -> list[str]:
    results = [event.result async for event in hermes.turn(text, session=session) if isinstance(event, Returned)]
    return ["".join(part.text for part in one.parts if isinstance(part, Text)) for one in results]


def house(hermes, *steps, scripted) -> None:
    hermes.tmp_plugin(scripted(*steps))
    hermes.tmp_plugin("hermes_memory_files")
    hermes.configure({"memories.files.approval": True, "policy.mode": "off"})


async def test_what_a_model_keeps_waits_until_it_is_approved(hermes, scripted) -> None:
    house(hermes, Call("memory", TEA), "one", Call("memory", TEA), "two", scripted=scripted)
    [answer] = await said(hermes)
    assert "waits" in answer
    assert await said(hermes) == [answer], "the same change waits once"
    memory = hermes.runtime.memory.of()[1]
    assert not await memory.brief(Session(id="t", origin="cli", owner=hermes.runtime.owner))
    assert not await memory.search(hermes.runtime.owner, "", 9)
    assert "+ Ada likes tea." in await hermes.slash("/memory")
    [line] = (await hermes.command("memory pending", "--json")).splitlines()
    waits = json.loads(line)["id"]
    assert waits in answer
    assert "Ada likes tea." in await hermes.command("memory export"), "all that is kept of a person is given out"
    assert "Kept" in await hermes.slash(f"/memory approve {waits}")
    assert "Ada likes tea." in await memory.brief(Session(id="t", origin="cli", owner=hermes.runtime.owner))
    assert await hermes.slash("/memory") == "Nothing waits to be kept."


async def test_what_is_rejected_leaves_nothing(hermes, scripted) -> None:
    house(hermes, Call("memory", TEA), "one", scripted=scripted)
    await said(hermes)
    [one] = pending.waiting(FilesMemory.of(hermes.context("hermes_memory_files")).store(hermes.runtime.owner))
    await hermes.command("memory reject", one.id[:5])
    files = (hermes.runtime.home.root / "memories").rglob("*")
    assert not [path for path in files if path.is_file() and "tea" in path.read_text()]
    with pytest.raises(UnknownName):
        await hermes.command("memory approve", one.id)


async def test_nobody_decides_about_what_is_anothers(tmp_path) -> None:
    memory = FilesMemory(tmp_path)
    one = pending.propose(memory.store(BEN), "user", [Operation(action="add", text="Sleeps late.")], MODEL)
    assert not pending.waiting(memory.store(ME))
    with pytest.raises(UnknownName):
        pending.approve(memory.store(ME), one.id)
    pending.approve(memory.store(BEN), one.id)
    assert not await memory.search(ME, "", 9)
    assert [memo.text for memo in await memory.search(BEN, "", 9)] == ["Sleeps late."]


def test_a_change_that_no_longer_fits_waits_on_and_says_why(tmp_path) -> None:
    store = FilesMemory(tmp_path).store(ME)
    store.change("memory", MODEL, lambda _: ["Port 80."])
    one = pending.propose(store, "memory", [Operation(action="replace", old="Port", text="Port 81.")], MODEL)
    store.change("memory", MODEL, lambda _: ["Something else."])
    with pytest.raises(UserError, match="No entry"):
        pending.approve(store, one.id)
    assert [left.id for left in pending.waiting(store)] == [one.id]
    assert store.entries("memory") == ("Something else.",)


def test_what_was_done_before_a_death_is_found_done(tmp_path) -> None:
    store = FilesMemory(tmp_path).store(ME)
    store.change("memory", MODEL, lambda _: ["Port 80.", "Old."])
    batch = [
        Operation(action="replace", old="80", text="Port 81."),
        Operation(action="remove", old="Old."),
        Operation(action="add", text="New."),
    ]
    one = pending.propose(store, "memory", batch, MODEL)
    kept = (store.pending / f"{one.id}.json").read_bytes()
    pending.approve(store, one.id)
    (store.pending / f"{one.id}.json").write_bytes(kept)  # as if it had died before it forgot it
    pending.approve(store, one.id)
    assert store.entries("memory") == ("Port 81.", "New.")
    assert not pending.waiting(store)


def test_no_more_wait_than_a_person_reads(tmp_path, monkeypatch) -> None:
    from hermes_core.errors import ToolError

    monkeypatch.setattr(pending, "MOST", 3)
    store = FilesMemory(tmp_path).store(ME)
    for number in range(3):
        pending.propose(store, "memory", [Operation(action="add", text=f"Fact {number}.")], MODEL)
    with pytest.raises(ToolError, match="wait already"):
        pending.propose(store, "memory", [Operation(action="add", text="One more.")], MODEL)


def test_a_damaged_one_is_left_out(tmp_path) -> None:
    store = FilesMemory(tmp_path).store(ME)
    pending.propose(store, "memory", [Operation(action="add", text="A fact.")], MODEL)
    for number, text in enumerate(("{", "[]", '{"target": "/etc/passwd", "operations": [], "source": {}, "when": 0}')):
        (store.pending / f"{number}.json").write_text(text)
    assert len(pending.waiting(store)) == 1


async def test_an_answer_about_a_person_is_for_no_group(hermes, scripted) -> None:
    house(hermes, scripted=scripted)
    group = Session(id="g", origin="telegram", owner=Principal(person="telegram#-1"), speaker=Speaker(person="ben"))
    for line in ("/memory", "/user", "/user add He is rich."):
        with pytest.raises(UserError, match="private chat"):
            await hermes.slash(line, group)
