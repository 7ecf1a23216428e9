"""Many processes write at once: nothing that was acknowledged is lost, and nobody hears that the store is locked."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes_core.store.store import Store
from hermes_core.types import Principal

ME = Principal()
PROCESSES = 8
FIGURES = {"p50": 0.5, "p99": 0.99, "longest": 1}
WRITER = """
import asyncio, json, sys, time
from pathlib import Path
from hermes_backend_postgresql.driver import PostgreSQL
from hermes_core.store.store import open_store
from hermes_core.types import Message, Session, Text
async def run(path, url, name, commits):
    store, texts, times = open_store(Path(path), url=url, driver=PostgreSQL()), [], []
    await store.sessions.create(Session(id=name, origin="cli"))
    sys.stdin.readline()
    for number in range(int(commits)):
        text = f"word {name} {number} " + "and so on " * 40
        start = time.perf_counter()
        await store.history.add(name, Message(role="user", parts=(Text(text=text),)))
        texts.append(text)
        times.append(time.perf_counter() - start)
    store.close()
    print(json.dumps({"texts": texts, "times": times}))
asyncio.run(run(*sys.argv[1:]))
"""


@pytest.mark.long
async def test_eight_processes_write_at_once_and_lose_nothing(
    store: Store,
    sql: Callable[[str], list[tuple[object, ...]]],
    tmp_path: Path,
    url: str,
    commits: int,
) -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", WRITER, str(tmp_path / "state.db"), url]
    started = [subprocess.Popen([*command, f"s{n}", str(commits)], **pipes) for n in range(PROCESSES)]  # noqa: ASYNC220
    for process in started:
        process.stdin.write("\n")
        process.stdin.flush()
    ended = [process.communicate() for process in started]
    assert [(process.returncode, said) for process, (_, said) in zip(started, ended, strict=True)] == [(0, "")] * 8
    told = [json.loads(out) for out, _ in ended]
    for number, one in enumerate(told):
        there = [m.parts[0].text for _, m in await store.history.messages(ME, f"s{number}", window=commits + 1)]
        assert there == one["texts"]
    assert {row.messages for row in await store.sessions.list(ME)} == {commits}
    assert len(await store.history.search(ME, "word", limit=PROCESSES * commits + 1)) == PROCESSES * commits
    if url:
        lost = "SELECT 1 FROM messages LEFT JOIN search ON rowid = messages.id WHERE rowid IS NULL"
        assert sql(lost) == []
    else:
        assert sql("PRAGMA integrity_check") == [("ok",)]
        sql("INSERT INTO search(search) VALUES ('integrity-check')")
    times = sorted(time for one in told for time in one["times"])
    figures = {name: times[min(len(times) - 1, int(len(times) * at))] for name, at in FIGURES.items()}
    print(f"{len(times)} commits", {name: f"{seconds * 1000:.1f} ms" for name, seconds in figures.items()})  # with -s
