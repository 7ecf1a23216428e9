"""One gateway at a time serves an account, whatever dies."""

import os
import subprocess
import sys
from collections.abc import Callable

import pytest
from gateway_house import rows_of

from hermes_core.store import leases
from hermes_core.store.store import Store
from hermes_platform_gateway.rows.accounts import StaleAccount


@pytest.fixture
def grave() -> int:
    """The id of a process that is no more."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


async def test_one_holder_at_a_time(reopen: Callable[..., Store]) -> None:
    here, there = reopen(), reopen()
    first = await rows_of(here).accounts.lease("demo", "bot")
    assert first is not None
    assert await rows_of(there).accounts.lease("demo", "bot") is None
    assert await rows_of(there).accounts.lease("demo", "other bot") is not None
    await rows_of(here).accounts.renew(first)


async def test_who_stops_is_followed_at_once(reopen: Callable[..., Store]) -> None:
    here, there = reopen(), reopen()
    first = await rows_of(here).accounts.lease("demo", "bot")
    assert first
    await rows_of(here).accounts.release(first)
    second = await rows_of(there).accounts.lease("demo", "bot")
    assert second is not None
    assert second.fence > first.fence
    await rows_of(here).accounts.release(first)  # late, and quiet
    await rows_of(there).accounts.renew(second)


async def test_who_died_on_this_machine_is_followed_at_once(
    store: Store, grave: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(os, "getpid", lambda: grave)
        first = await rows_of(store).accounts.lease("demo", "bot")
    second = await rows_of(store).accounts.lease("demo", "bot")
    assert first is not None
    assert second is not None
    for write in (rows_of(store).accounts.renew(first), rows_of(store).accounts.renew(first, "connected")):
        with pytest.raises(StaleAccount, match="Another gateway serves demo bot now"):
            await write
    await rows_of(store).accounts.renew(second)


async def test_who_is_silent_is_followed_after_a_while(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    first = await rows_of(store).accounts.lease("demo", "bot")
    assert await rows_of(store).accounts.lease("demo", "bot") is None
    monkeypatch.setattr(leases, "LIFE", -1.0)
    second = await rows_of(store).accounts.lease("demo", "bot")
    assert first is not None
    assert second is not None
    with pytest.raises(StaleAccount):
        await rows_of(store).accounts.renew(first)


async def test_how_an_account_stands_is_told(store: Store) -> None:
    lease = await rows_of(store).accounts.lease("demo", "bot")
    assert lease
    [row] = await rows_of(store).accounts.list()
    assert (row.platform, row.account, row.state, row.served) == ("demo", "bot", "connecting", True)
    assert row.holder.endswith(f":{os.getpid()}")
    await rows_of(store).accounts.renew(lease, "parked", "The token was refused.")
    [row] = await rows_of(store).accounts.list()
    assert (row.state, row.error) == ("parked", "The token was refused.")
    await rows_of(store).accounts.release(lease)
    [row] = await rows_of(store).accounts.list()
    assert (row.holder, row.state, row.served) == ("", "stopped", False)
    assert await rows_of(store).accounts.lease("demo", "bot")
    [row] = await rows_of(store).accounts.list()
    assert (row.state, row.error) == ("connecting", "")
