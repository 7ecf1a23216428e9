"""Copies that are made while a gateway runs, and what is said of them."""

import asyncio
import os
import time
from contextlib import suppress

import pytest

from hermes_core.testing import plugin_context
from hermes_tool_backup.archive import AUTO, copies
from hermes_tool_backup.config import Config
from hermes_tool_backup.create import drop_old
from hermes_tool_backup.service import Copying, last_copy

from .conftest import Contract


def context_with(home, **config):
    return plugin_context(Contract().read_manifest(), home, config=Config(**config))


async def looked(service):
    """Let a service look once."""
    running = asyncio.create_task(service.run())
    while not service._ctx.state.get("looked") and not running.done():
        await asyncio.sleep(0.01)
        if copies(service._ctx.paths.home / "backups") or service.health():
            break
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running


async def test_one_is_made_when_it_is_due_and_none_when_it_is_not(home):
    service = Copying(context_with(home, every=2))
    await looked(service)
    (copy,) = copies(home / "backups")
    assert copy.label == AUTO
    await looked(service)
    assert copies(home / "backups") == [copy]
    copy.path.rename(copy.path.with_name("hermes-20260101-000000-auto.tar.gz"))
    service._look()
    assert len(copies(home / "backups")) == 2
    assert "the newest of 0 h ago" in await service.status()


async def test_none_is_made_where_nobody_wants_one(home):
    await asyncio.wait_for(Copying(context_with(home, every=0)).run(), 5)
    assert not copies(home / "backups")


def test_only_its_own_are_dropped(home):
    folder = home / "backups"
    folder.mkdir()
    for day in range(1, 6):
        (folder / f"hermes-2026010{day}-000000-auto.tar.gz").write_text("")
    (folder / "hermes-20250101-000000-mine.tar.gz").write_text("")
    assert drop_old(folder, 2) == 3
    assert [copy.when[:8] for copy in copies(folder)] == ["20260105", "20260104", "20250101"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
async def test_a_place_that_cannot_be_written_is_told(home):
    home.chmod(0o500)
    service = Copying(context_with(home))
    await looked(service)
    home.chmod(0o700)
    assert "No copy was made" in service.health()


async def test_doctor_says_when_the_last_one_was_made(home):
    check = last_copy(context_with(home, every=1))
    (finding,) = await check.run()
    assert (finding.level, finding.text) == ("ok", "copies of the home: none yet")
    (home / "backups").mkdir()
    old = time.strftime("%Y%m%d-%H%M%S", time.gmtime(time.time() - 5 * 3600))
    (home / "backups" / f"hermes-{old}-auto.tar.gz").write_text("")
    (finding,) = await check.run()
    assert (finding.level, finding.fix) == ("warning", "hermes backup create")
    (home / ".restore").mkdir()
    (home / ".restore" / "note").write_text("{}")
    (finding,) = await check.run()
    assert finding.level == "fault"
