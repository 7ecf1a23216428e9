"""The service that keeps snapshots small: what it does, what it says, and what a death leaves of it."""

import asyncio
import json
import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from hermes_core.testing.forks import Forks
from hermes_tool_checkpoints.config import Config
from hermes_tool_checkpoints.git import Job, locked
from hermes_tool_checkpoints.prune import size, tidied
from hermes_tool_checkpoints.restore import restore
from hermes_tool_checkpoints.service import Tidying, last_tidying
from hermes_tool_checkpoints.store import About, Store

MB = 1_000_000


@pytest.fixture
def grown(tmp_path: Path) -> Callable[..., Store]:
    """A store with five snapshots of 300 kB each, and the settings that are given."""

    def make(**config: Any) -> Store:
        root, folder = tmp_path / "home", tmp_path / "project"
        folder.mkdir()
        store = Store(root / "data", Config(), closed=root)
        for number in range(5):
            (folder / "a").write_bytes(os.urandom(300_000))
            (folder / "n").write_text(str(number))
            store.take(folder, About(tool="t"), Job(60))
        return Store(root / "data", Config(**config), closed=root)

    return make


@asynccontextmanager
async def at_work(store: Store) -> AsyncIterator[Tidying]:
    service = Tidying(lambda: store)
    running = asyncio.create_task(service.run())
    try:
        yield service
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            async with asyncio.timeout(2):
                await running


async def until(wanted: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not wanted():
            await asyncio.sleep(0.01)


def kept(store: Store, folder: Path) -> int:
    return len(store.snapshots(folder, Job(60)))


async def test_what_is_too_much_goes_and_it_says_so(grown: Callable[..., Store], tmp_path: Path) -> None:
    store = grown(max_total_size_mb=1)
    before = size(store)
    assert await Tidying(lambda: store).status() == f"never tidied up; {before / MB:.1f} MB"
    async with at_work(store) as service:
        await until(lambda: tidied(store).when)
        said = await service.status()
    assert size(store) <= MB < before
    assert 1 <= kept(store, tmp_path / "project") < 5
    last = tidied(store)
    assert last.dropped == 5 - kept(store, tmp_path / "project")
    assert f", {last.dropped} snapshots dropped, {last.freed / MB:.1f} MB freed; {size(store) / MB:.1f} MB now" in said
    assert service.health() == ""
    assert await Tidying(lambda: store).status() == said, "another process says the same"
    (finding,) = await last_tidying(lambda: store).run()
    assert (finding.level, finding.text) == ("ok", f"snapshots: {said}")


async def test_what_grew_too_large_goes_before_the_interval_is_over(
    grown: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = grown(max_total_size_mb=1)
    (store.root / "pruned.json").write_text(json.dumps({"when": time.time()}))  # as an older version wrote it
    async with at_work(store):
        await until(lambda: tidied(store).dropped)
    assert size(store) <= MB


@pytest.mark.parametrize("config", [{"auto_prune": False, "max_total_size_mb": 1}, {"max_total_size_mb": 500}])
async def test_nothing_is_done_unasked_or_before_its_time(
    grown: Callable[..., Store], tmp_path: Path, config: dict[str, Any]
) -> None:
    store = grown(**config)
    (store.root / "pruned.json").write_text(json.dumps({"when": time.time()}))
    async with at_work(store):
        await asyncio.sleep(0.3)
    assert kept(store, tmp_path / "project") == 5


async def test_while_another_process_is_at_work_it_stands_back(grown: Callable[..., Store], tmp_path: Path) -> None:
    store = grown(max_total_size_mb=1)
    with locked(store.root / "locks" / "store.lock", Job(60), shared=True):
        async with at_work(store) as service:
            await asyncio.sleep(0.3)
            assert (kept(store, tmp_path / "project"), service.health()) == (5, "")
    assert not tidied(store).when


async def test_what_it_cannot_do_is_its_health(
    grown: Callable[..., Store], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = grown(max_total_size_mb=1)
    monkeypatch.setenv("PATH", "/nonexistent")
    async with at_work(store) as service:
        await until(service.health)
    assert service.health() == "The snapshots were not tidied up: There is no git on this machine."


def slow_git(folder: Path, verb: str) -> str:
    """A PATH on which git stops for good at one verb, after having begun."""
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    folder.mkdir()
    begun = f'echo $$ >"{folder}/pid"; mv "{folder}/pid" "{folder}/reached"; exec sleep 60'
    (folder / "git").write_text(f'#!/bin/sh\nif [ "$1" = {verb} ]; then {begun}; fi\nexec {real} "$@"\n')
    (folder / "git").chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


@pytest.mark.parametrize("verb", ["for-each-ref", "update-ref", "prune", "gc"])
@pytest.mark.few(1)
def test_a_kill_in_the_middle_costs_nothing_and_the_next_completes_it(
    grown: Callable[..., Store], tmp_path: Path, verb: str
) -> None:
    folder, store = tmp_path / "project", grown(max_snapshots=2)
    newest = (folder / "a").read_bytes()
    with Forks(Path(__file__).with_name("dying.py")) as forks:
        path = slow_git(tmp_path / "bin", verb)
        process = forks.start(env={"PATH": path}, folder=str(folder), data=str(store.root), what="prune")
        while not (reached := tmp_path / "bin" / "reached").exists():
            assert Path(f"/proc/{process}").exists()
            time.sleep(0.01)
        os.kill(process, signal.SIGKILL)
        assert forks.wait() == -signal.SIGKILL
        os.kill(int(reached.read_text()), signal.SIGKILL)
    assert not tidied(store).when, "it did not come to its end, and does not say so"
    assert kept(store, folder) == (2 if verb in ("prune", "gc") else 5)

    async def go_on() -> None:
        async with at_work(store):
            await until(lambda: tidied(store).when)

    asyncio.run(go_on())
    assert kept(store, folder) == 2
    (folder / "a").write_bytes(b"gone")
    restore(store, folder, store.snapshots(folder, Job(60))[0], About(kind="rollback"), Job(60))
    assert (folder / "a").read_bytes() == newest


async def test_it_lets_go_when_it_is_stopped_in_the_middle(
    grown: Callable[..., Store], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = grown(max_snapshots=2)
    with monkeypatch.context() as slow:
        slow.setenv("PATH", slow_git(tmp_path / "bin", "gc"))
        async with at_work(store) as service:
            await until((tmp_path / "bin" / "reached").exists)
    assert service.health() == ""
    async with at_work(store):
        await until(lambda: tidied(store).when)
    assert kept(store, tmp_path / "project") == 2
