"""``ctx.documents`` of the kernel and the one for tests keep to the same."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hermes_core.brokers import DocumentsBroker
from hermes_core.errors import Conflict, UserError
from hermes_core.store.documents import Documents
from hermes_core.store.store import open_store
from hermes_core.testing import FakeDocuments
from hermes_core.types import JSON, Principal

ME, HANA = Principal(), Principal(person="hana")


@pytest.fixture(params=["kept", "fake"])
async def documents(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[DocumentsBroker]:
    if request.param == "fake":
        yield FakeDocuments()
        return
    store = open_store(tmp_path / "state.db")
    yield Documents(store.database, "tool/tally")
    store.close()


async def test_each_place_is_its_own(documents: DocumentsBroker) -> None:
    await documents.put("n", 1)
    await documents.put("n", 2, owner=ME)
    await documents.put("n", 3, owner=ME, session_id="s")
    await documents.put("m", 4, owner=ME, session_id="s")
    await documents.put("n", 5, owner=HANA)
    found = await documents.get("n", owner=ME, session_id="s")
    assert found is not None
    assert (found.name, found.value, found.session_id) == ("n", 3, "s")
    assert [d.value for d in await documents.list()] == [1]
    assert [d.value for d in await documents.list(owner=ME)] == [2]
    assert [d.name for d in await documents.list(owner=ME, session_id="s")] == ["m", "n"]
    assert [(d.session_id, d.value) for d in await documents.export(ME)] == [("", 2), ("s", 4), ("s", 3)]
    assert await documents.erase(ME) == 3
    assert await documents.export(ME) == []
    assert await documents.get("n", owner=HANA)
    assert await documents.delete("n")
    assert await documents.get("n") is None
    with pytest.raises(UserError, match="needs its owner"):
        await documents.get("n", session_id="s")


async def test_what_comes_back_is_nobody_elses(documents: DocumentsBroker) -> None:
    value = {"a": [1]}
    put = await documents.put("n", value)
    value["a"].append(2)
    put.value["a"].append(3)
    again = await documents.get("n")
    assert again is not None
    assert again.value == {"a": [1]}


async def test_a_version_is_asked_for(documents: DocumentsBroker) -> None:
    first = await documents.put("n", 1, version=0)
    for stale in (0, first.version + 1):
        with pytest.raises(Conflict):
            await documents.put("n", 2, version=stale)
        with pytest.raises(Conflict):
            await documents.delete("n", version=stale)
    assert (await documents.put("n", 2, version=first.version)).version != first.version
    with pytest.raises(UserError, match="must be JSON"):
        await documents.put("n", {1, 2})
    with pytest.raises(UserError, match="no name"):
        await documents.put("", 1)


async def test_a_change_is_made_again_when_another_was_faster(documents: DocumentsBroker) -> None:
    async def count() -> None:
        await documents.change("n", lambda before: (before or 0) + 1)

    await asyncio.gather(*(count() for _ in range(8)))
    assert (await documents.list())[0].value == 8
    assert await documents.change("n", lambda _: None) is None
    assert await documents.change("n", lambda _: None) is None
    assert await documents.list() == []


async def test_a_change_that_never_comes_through_is_told(documents: DocumentsBroker) -> None:
    tries: list[JSON] = []
    put = documents.put

    async def late(*arguments: JSON, **more: JSON) -> JSON:
        await put("n", len(tries))
        return await put(*arguments, **more)

    documents.put = late  # type: ignore[method-assign]
    with pytest.raises(Conflict):
        await documents.change("n", lambda before: tries.append(before) or "mine")
    assert len(tries) == 10


def test_a_fork_and_an_end_can_be_played() -> None:
    async def play() -> None:
        fake = FakeDocuments()
        await fake.put("n", 1, owner=ME, session_id="s")
        fake.fork("s", "t")
        fake.forget("s")
        assert [d.session_id for d in await fake.export(ME)] == ["t"]

    asyncio.run(play())
