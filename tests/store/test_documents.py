"""Documents of plugins: whole, by version, of one owner, and gone with their session."""

import asyncio
from collections.abc import Callable

import pytest

from hermes_core.errors import Conflict, UnknownName, UserError
from hermes_core.store.documents import MOST, SIZE, Scope
from hermes_core.store.store import Store
from hermes_core.types import JSON, Message, Principal, Session, Text

ME, HANA = Principal(), Principal(person="hana")
MINE = Scope(plugin="tool/todo", owner=ME)


def of(session_id: str, owner: Principal = ME, plugin: str = "tool/todo") -> Scope:
    return Scope(plugin=plugin, owner=owner, session_id=session_id)


@pytest.mark.parametrize("value", [None, 0, 1.5, "x\ud800\x00é", ["a", {"b": [True, None]}], {}, {"": 1}])
async def test_a_value_comes_back_as_it_was(store: Store, value: JSON) -> None:
    put = await store.documents.put(MINE, name="plan", value=value)
    assert put.value == value
    assert await store.documents.get(MINE, name="plan") == put


async def test_what_was_written_is_there_after_opening_anew(reopen: Callable[..., Store]) -> None:
    first = reopen()
    put = await first.documents.put(MINE, name="plan", value=[1])
    first.close()
    assert await reopen().documents.get(MINE, name="plan") == put


async def test_nobody_sees_what_another_keeps(store: Store) -> None:
    places = [
        MINE, Scope(plugin="tool/other", owner=ME), Scope(plugin="tool/todo", owner=HANA), Scope(plugin="tool/todo"),
        of("s"), of("s", HANA), of("t"), of("s", plugin="tool/other"),
    ]  # fmt: skip
    for number, place in enumerate(places):
        assert await store.documents.get(place, name="plan") is None
        await store.documents.put(place, name="plan", value=number, version=0)
    assert [(await store.documents.list(place))[0].value for place in places] == list(range(len(places)))
    assert {d.value for d in await store.documents.export("tool/todo", ME)} == {0, 4, 6}
    assert await store.documents.erase("tool/todo", ME) == 3
    assert await store.documents.export("tool/todo", ME) == []
    assert await store.documents.get(places[3], name="plan") is not None
    assert await store.documents.get(places[7], name="plan") is not None


async def test_a_version_that_moved_is_a_conflict_and_nothing_is_written(store: Store) -> None:
    documents = store.documents
    first = await documents.put(MINE, name="plan", value="a", version=0)
    second = await documents.put(MINE, name="plan", value="b", version=first.version)
    assert second.version != first.version
    for stale in (0, first.version):
        with pytest.raises(Conflict, match="changed the document 'plan' meanwhile"):
            await documents.put(MINE, name="plan", value="c", version=stale)
        with pytest.raises(Conflict):
            await documents.delete(MINE, name="plan", version=stale)
    with pytest.raises(Conflict):
        await documents.put(MINE, name="new", value="c", version=7)
    assert await documents.get(MINE, name="plan") == second
    assert (await documents.put(MINE, name="plan", value="d")).value == "d"
    assert await documents.delete(MINE, name="plan")
    assert not await documents.delete(MINE, name="plan")
    again = await documents.put(MINE, name="plan", value="e", version=0)
    assert again.version not in (first.version, second.version)


async def test_of_two_who_write_at_once_one_is_told(store: Store) -> None:
    put = await store.documents.put(MINE, name="plan", value="a")
    wanted = [store.documents.put(MINE, name="plan", value=n, version=put.version) for n in range(6)]
    said = await asyncio.gather(*wanted, return_exceptions=True)
    assert sum(isinstance(one, Conflict) for one in said) == 5
    begun = await asyncio.gather(
        *(store.documents.put(MINE, name="new", value=n, version=0) for n in range(6)), return_exceptions=True
    )
    assert sum(isinstance(one, Conflict) for one in begun) == 5


async def test_what_is_no_small_json_is_refused(store: Store) -> None:
    deep: JSON = []
    for _ in range(100_000):
        deep = [deep]
    for value in ({1: "a"}, (1,), {"a": {1}}, float("nan"), b"x", deep):
        with pytest.raises(UserError, match="must be JSON"):
            await store.documents.put(MINE, name="plan", value=value)
    await store.documents.put(MINE, name="plan", value="x" * (SIZE - 2))
    with pytest.raises(UserError, match="1,048,577 bytes is too large"):
        await store.documents.put(MINE, name="plan", value="x" * (SIZE - 1))
    for name in ("", "a\nb", "x" * 201, "\x00"):
        with pytest.raises(UserError, match="no name of a document"):
            await store.documents.put(MINE, name=name, value=1)


async def test_one_place_holds_so_many_and_no_more(store: Store) -> None:
    for number in range(MOST):
        await store.documents.put(MINE, name=f"{number:03}", value=number)
    with pytest.raises(UserError, match="keeps 256 documents there already"):
        await store.documents.put(MINE, name="one more", value=1)
    assert (await store.documents.put(MINE, name="000", value="again")).value == "again"
    await store.documents.put(of("s"), name="one more", value=1)
    assert [d.name for d in await store.documents.list(MINE)] == [f"{n:03}" for n in range(MOST)]


async def test_a_session_takes_its_documents_with_it(store: Store) -> None:
    await store.sessions.create(Session(id="s", origin="cli"))
    await store.sessions.create(Session(id="child", origin="child", parent="s"))
    for place in (of("s"), of("child"), of("other"), MINE):
        await store.documents.put(place, name="plan", value=1)
    await store.sessions.delete("s", ME)
    assert [d.session_id for d in await store.documents.export("tool/todo", ME)] == ["", "other"]


async def test_a_fork_of_the_whole_knows_what_the_session_knew(store: Store) -> None:
    await store.sessions.create(Session(id="s", origin="cli"))
    turn = {"holder": "me", "provider": "p", "model": "m"}
    begun = await store.journal.open_turn("s", Message(role="user", parts=(Text(text="hi"),)), turn_id="t", **turn)
    await store.journal.close_turn(begun, state="done")
    await store.documents.put(of("s"), name="plan", value=["look"])
    await store.documents.put(of("s", plugin="tool/persona"), name="overlay", value={})
    await store.sessions.fork(ME, "s", Session(id="whole", origin="cli"))
    await store.sessions.fork(ME, "s", Session(id="past", origin="cli"), upto="t")
    copy = await store.documents.get(of("whole"), name="plan")
    assert copy is not None
    assert copy.value == ["look"]
    assert await store.documents.get(of("whole", plugin="tool/persona"), name="overlay")
    assert await store.documents.get(of("past"), name="plan") is None
    await store.documents.put(of("whole"), name="plan", value=[])
    assert (await store.documents.list(of("s")))[0].value == ["look"]


async def test_the_session_of_another_gets_none(store: Store) -> None:
    await store.sessions.create(Session(id="hers", origin="cli", owner=HANA))
    with pytest.raises(UnknownName):
        await store.documents.put(of("hers"), name="plan", value=1)
    assert await store.documents.get(of("hers"), name="plan") is None
    with pytest.raises(UserError, match="needs its owner"):
        Scope(plugin="p", session_id="s")
    with pytest.raises(UnknownName):
        of("s\x00")


async def test_what_belongs_to_a_session_that_never_began_goes_in_time(
    store: Store, sql: Callable[[str], list[tuple[object, ...]]]
) -> None:
    await store.sessions.create(Session(id="begun", origin="cli"))
    for place in (of("never"), of("begun"), MINE, of("never", plugin="tool/other")):
        await store.documents.put(place, name="plan", value=1)
    sql("UPDATE documents SET updated = updated - 31 * 86400")
    await store.documents.put(of("new"), name="plan", value=1)
    assert [d.session_id for d in await store.documents.export("tool/todo", ME)] == ["", "begun", "new"]
    assert len(await store.documents.export("tool/other", ME)) == 1
