"""Documents of plugins: whole, by version, of one owner, and gone with their session."""

import asyncio
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from hermes_core.errors import Conflict, UnknownName, UserError
from hermes_core.store.documents import MOST, SIZE, Documents
from hermes_core.store.store import Store
from hermes_core.types import JSON, Message, Principal, Session, Text

ME, HANA = Principal(), Principal(person="hana")


class Place(NamedTuple):
    plugin: str = "tool/todo"
    owner: Principal | None = None
    session_id: str = ""

    def kept(self, store: Store) -> Any:
        """What its plugin has there."""
        there, where = Documents(store.database, self.plugin), {"owner": self.owner, "session_id": self.session_id}
        return SimpleNamespace(**{n: partial(getattr(there, n), **where) for n in ("get", "put", "delete", "list")})


MINE = Place(owner=ME)


def of(session_id: str, owner: Principal = ME, plugin: str = "tool/todo") -> Place:
    return Place(plugin, owner, session_id)


@pytest.mark.parametrize("value", [None, 0, 1.5, "x\ud800\x00é", ["a", {"b": [True, None]}], {}, {"": 1}])
async def test_a_value_comes_back_as_it_was(store: Store, value: JSON) -> None:
    put = await MINE.kept(store).put(name="plan", value=value)
    assert put.value == value
    assert await MINE.kept(store).get(name="plan") == put


async def test_what_was_written_is_there_after_opening_anew(reopen: Callable[..., Store]) -> None:
    first = reopen()
    put = await MINE.kept(first).put(name="plan", value=[1])
    first.close()
    assert await MINE.kept(reopen()).get(name="plan") == put


async def test_nobody_sees_what_another_keeps(store: Store) -> None:
    places = [
        MINE, Place(plugin="tool/other", owner=ME), Place(plugin="tool/todo", owner=HANA), Place(plugin="tool/todo"),
        of("s"), of("s", HANA), of("t"), of("s", plugin="tool/other"),
    ]  # fmt: skip
    for number, place in enumerate(places):
        assert await place.kept(store).get(name="plan") is None
        await place.kept(store).put(name="plan", value=number, version=0)
    assert [(await place.kept(store).list())[0].value for place in places] == list(range(len(places)))
    assert {d.value for d in await Documents(store.database, "tool/todo").export(ME)} == {0, 4, 6}
    assert await Documents(store.database, "tool/todo").erase(ME) == 3
    assert await Documents(store.database, "tool/todo").export(ME) == []
    assert await places[3].kept(store).get(name="plan") is not None
    assert await places[7].kept(store).get(name="plan") is not None


async def test_a_version_that_moved_is_a_conflict_and_nothing_is_written(store: Store) -> None:
    documents = MINE.kept(store)
    first = await documents.put(name="plan", value="a", version=0)
    second = await documents.put(name="plan", value="b", version=first.version)
    assert second.version != first.version
    for stale in (0, first.version):
        with pytest.raises(Conflict, match="changed the document 'plan' meanwhile"):
            await documents.put(name="plan", value="c", version=stale)
        with pytest.raises(Conflict):
            await documents.delete(name="plan", version=stale)
    with pytest.raises(Conflict):
        await documents.put(name="new", value="c", version=7)
    assert await documents.get(name="plan") == second
    assert (await documents.put(name="plan", value="d")).value == "d"
    assert await documents.delete(name="plan")
    assert not await documents.delete(name="plan")
    again = await documents.put(name="plan", value="e", version=0)
    assert again.version not in (first.version, second.version)


async def test_of_two_who_write_at_once_one_is_told(store: Store) -> None:
    put = await MINE.kept(store).put(name="plan", value="a")
    wanted = [MINE.kept(store).put(name="plan", value=n, version=put.version) for n in range(6)]
    said = await asyncio.gather(*wanted, return_exceptions=True)
    assert sum(isinstance(one, Conflict) for one in said) == 5
    begun = await asyncio.gather(
        *(MINE.kept(store).put(name="new", value=n, version=0) for n in range(6)), return_exceptions=True
    )
    assert sum(isinstance(one, Conflict) for one in begun) == 5


async def test_what_is_no_small_json_is_refused(store: Store) -> None:
    deep: JSON = []
    for _ in range(100_000):
        deep = [deep]
    for value in ({1: "a"}, (1,), {"a": {1}}, float("nan"), b"x", deep):
        with pytest.raises(UserError, match="must be JSON"):
            await MINE.kept(store).put(name="plan", value=value)
    await MINE.kept(store).put(name="plan", value="x" * (SIZE - 2))
    with pytest.raises(UserError, match="1,048,577 bytes is too large"):
        await MINE.kept(store).put(name="plan", value="x" * (SIZE - 1))
    for name in ("", "a\nb", "x" * 201, "\x00"):
        with pytest.raises(UserError, match="no name of a document"):
            await MINE.kept(store).put(name=name, value=1)


async def test_one_place_holds_so_many_and_no_more(store: Store) -> None:
    for number in range(MOST):
        await MINE.kept(store).put(name=f"{number:03}", value=number)
    with pytest.raises(UserError, match="keeps 256 documents there already"):
        await MINE.kept(store).put(name="one more", value=1)
    assert (await MINE.kept(store).put(name="000", value="again")).value == "again"
    await of("s").kept(store).put(name="one more", value=1)
    assert [d.name for d in await MINE.kept(store).list()] == [f"{n:03}" for n in range(MOST)]


async def test_a_session_takes_its_documents_with_it(store: Store) -> None:
    await store.sessions.create(Session(id="s", origin="cli"))
    await store.sessions.create(Session(id="child", origin="child", parent="s"))
    for place in (of("s"), of("child"), of("other"), MINE):
        await place.kept(store).put(name="plan", value=1)
    await store.sessions.delete("s", ME)
    assert [d.session_id for d in await Documents(store.database, "tool/todo").export(ME)] == ["", "other"]


async def test_a_fork_of_the_whole_knows_what_the_session_knew(store: Store) -> None:
    await store.sessions.create(Session(id="s", origin="cli"))
    turn = {"holder": "me", "provider": "p", "model": "m"}
    begun = await store.journal.open_turn("s", Message(role="user", parts=(Text(text="hi"),)), turn_id="t", **turn)
    await store.journal.close_turn(begun, state="done")
    await of("s").kept(store).put(name="plan", value=["look"])
    await of("s", plugin="tool/persona").kept(store).put(name="overlay", value={})
    await store.sessions.fork(ME, "s", Session(id="whole", origin="cli"))
    await store.sessions.fork(ME, "s", Session(id="past", origin="cli"), upto="t")
    copy = await of("whole").kept(store).get(name="plan")
    assert copy is not None
    assert copy.value == ["look"]
    assert await of("whole", plugin="tool/persona").kept(store).get(name="overlay")
    assert await of("past").kept(store).get(name="plan") is None
    await of("whole").kept(store).put(name="plan", value=[])
    assert (await of("s").kept(store).list())[0].value == ["look"]


async def test_the_session_of_another_gets_none(store: Store) -> None:
    await store.sessions.create(Session(id="hers", origin="cli", owner=HANA))
    with pytest.raises(UnknownName):
        await of("hers").kept(store).put(name="plan", value=1)
    assert await of("hers").kept(store).get(name="plan") is None
    with pytest.raises(UserError, match="needs its owner"):
        await Place(session_id="s").kept(store).put(name="plan", value=1)
    with pytest.raises(UnknownName):
        await of("s\x00").kept(store).put(name="plan", value=1)


async def test_what_belongs_to_a_session_that_never_began_goes_in_time(
    store: Store, sql: Callable[[str], list[tuple[object, ...]]]
) -> None:
    await store.sessions.create(Session(id="begun", origin="cli"))
    for place in (of("never"), of("begun"), MINE, of("never", plugin="tool/other")):
        await place.kept(store).put(name="plan", value=1)
    sql("UPDATE documents SET updated = updated - 31 * 86400")
    await of("new").kept(store).put(name="plan", value=1)
    assert [d.session_id for d in await Documents(store.database, "tool/todo").export(ME)] == ["", "begun", "new"]
    assert len(await Documents(store.database, "tool/other").export(ME)) == 1
