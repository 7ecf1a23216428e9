"""The store against raw sqlite3 with FTS5, in one run: ``benchmarks/store.py [--rows N] [--search N] [--processes]``.

Prints one JSON object. Both sides write messages of about 550 bytes, one commit each, with a search index kept.
"""

import argparse
import asyncio
import json
import multiprocessing
import random
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from hermes_core.store.history import append
from hermes_core.store.store import Store, open_store
from hermes_core.types import Message, Principal, Session, Text

ME = Principal()
WORDS = [f"w{number:x}" for number in range(30000)]
WEIGHTS = [1 / (number + 3) for number in range(30000)]
QUERIES = {
    "rare": "needle",
    "mid": WORDS[2000],
    "common": WORDS[0],
    "two common": f"{WORDS[0]} {WORDS[1]}",
    "common and rare": f"{WORDS[0]} needle",
    "two mid": f"{WORDS[1000]} {WORDS[2000]}",
    "two common that never meet (5 % of rows each)": "left right",
    "two common that never meet (half of the rows each)": "even odd",
    "korean inside a word": "민국",
    "korean, one character": "민",
    "nothing": "nowhere",
}


def texts(count: int, seed: int = 1) -> Iterator[str]:
    """Texts of about 550 bytes with words from rare to common."""
    chance = random.Random(seed)
    cumulative = [sum(WEIGHTS[:1])]
    for weight in WEIGHTS[1:]:
        cumulative.append(cumulative[-1] + weight)
    for number in range(count):
        words = chance.choices(WORDS, cum_weights=cumulative, k=120)
        words.append("odd" if number % 2 else "even")
        words += ["left"] if number % 20 == 3 else ["right"] if number % 20 == 7 else []
        words += ["needle"] if number % (count // 10 or 1) == 5 else []
        words += ["대한민국만세"] if number % 10 == 0 else []
        yield " ".join(words)


def figures(times: list[float]) -> dict[str, float]:
    """What a list of durations comes to."""
    times = sorted(times)
    return {
        "rows_per_second": round(len(times) / sum(times)),
        "p50_us": round(times[len(times) // 2] * 1e6),
        "p99_us": round(times[int(len(times) * 0.99)] * 1e6),
        "longest_ms": round(times[-1] * 1e3, 1),
        "stalls_over_100_ms": sum(t > 0.1 for t in times),
    }


def raw(folder: Path, rows: list[str]) -> dict[str, float]:
    """The baseline: sqlite3 by hand, external-content FTS5 with a trigger."""
    db = sqlite3.connect(folder / "raw.db", isolation_level=None)
    db.executescript(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
        "CREATE TABLE m(id INTEGER PRIMARY KEY, session TEXT, role TEXT, content TEXT, created REAL);"
        "CREATE INDEX ms ON m(session);"
        "CREATE VIRTUAL TABLE f USING fts5(content, content='m', content_rowid='id');"
        "CREATE TRIGGER a AFTER INSERT ON m BEGIN INSERT INTO f(rowid, content) VALUES (new.id, new.content); END;"
    )
    times = []
    for number, text in enumerate(rows):
        start = time.perf_counter()
        db.execute("BEGIN IMMEDIATE")
        values = (f"s{number // 100}", "user", text, time.time())
        db.execute("INSERT INTO m(session, role, content, created) VALUES (?,?,?,?)", values)
        db.execute("COMMIT")
        times.append(time.perf_counter() - start)
    db.close()
    return figures(times)


async def ours(store: Store, rows: list[str]) -> dict[str, float]:
    """The same through the store's public call."""
    times = []
    for number, text in enumerate(rows):
        name = f"20260101_{number // 100:06d}_abcdef"
        if number % 100 == 0:
            await store.sessions.create(Session(id=name, origin="cli", owner=ME))
        message = Message(role="user" if number % 2 == 0 else "assistant", parts=(Text(text=text),))
        start = time.perf_counter()
        await store.history.add(name, message)
        times.append(time.perf_counter() - start)
    return figures(times)


async def fill(store: Store, have: int, want: int) -> None:
    """Bring a store to a million rows, many to a commit: only the search is timed there."""
    name = "20270101_000000_abcdef"
    await store.sessions.create(Session(id=name, origin="cli", owner=ME))
    lot: list[Message] = []
    for text in texts(want - have, seed=2):
        lot.append(Message(role="user", parts=(Text(text=text),)))
        if len(lot) == 1000:
            await _many(store, name, lot)
            lot.clear()
    await _many(store, name, lot)


async def _many(store: Store, name: str, lot: list[Message]) -> None:
    def work(tx):  # type: ignore[no-untyped-def]
        for message in lot:
            append(tx, name, message, "")

    await store.database.run(work)


async def searches(store: Store, repeats: int = 50) -> dict[str, dict[str, float]]:
    """p50 and p99 of every kind of query, through the public call."""
    result = {}
    for label, words in QUERIES.items():
        times, hits = [], 0
        for _ in range(repeats):
            start = time.perf_counter()
            hits = len(await store.history.search(ME, words))
            times.append(time.perf_counter() - start)
        times.sort()
        at = int(len(times) * 0.99)
        result[label] = {
            "hits": hits,
            "p50_ms": round(times[len(times) // 2] * 1e3, 2),
            "p99_ms": round(times[at] * 1e3, 2),
        }
    return result


def _writer(
    database: Path, number: int, commits: int, results: "multiprocessing.Queue[tuple[list[float], int]]"
) -> None:
    async def run() -> list[float]:
        store = open_store(database)
        name = f"20260101_00000{number}_abcdef"
        await store.sessions.create(Session(id=name, origin="cli", owner=ME))
        times = []
        for text in texts(commits, seed=number):
            start = time.perf_counter()
            await store.history.add(name, Message(role="user", parts=(Text(text=text),)))
            times.append(time.perf_counter() - start)
        store.close()
        return times

    results.put((asyncio.run(run()), number))


def processes(folder: Path, writers: int = 8, commits: int = 2000) -> dict[str, float | str]:
    """Several processes that write at once, and what the file is like afterwards."""
    results: multiprocessing.Queue[tuple[list[float], int]] = multiprocessing.Queue()
    database = folder / "shared.db"
    workers = [
        multiprocessing.Process(target=_writer, args=(database, number, commits, results)) for number in range(writers)
    ]
    for worker in workers:
        worker.start()
    times = [t for _ in workers for t in results.get()[0]]
    for worker in workers:
        worker.join()
    db = sqlite3.connect(database)
    stored = db.execute("SELECT count(*) FROM messages").fetchone()[0]
    checked = db.execute("PRAGMA integrity_check").fetchone()[0]
    db.execute("INSERT INTO search(search) VALUES ('integrity-check')")
    db.close()
    times.sort()
    return {
        "acknowledged": len(times),
        "stored": stored,
        "integrity": checked,
        "p50_ms": round(times[len(times) // 2] * 1e3, 2),
        "p99_ms": round(times[int(len(times) * 0.99)] * 1e3, 2),
        "longest_ms": round(times[-1] * 1e3, 1),
    }


async def _measure(folder: Path, count: int, big: int) -> dict[str, object]:
    rows = list(texts(count))
    report: dict[str, object] = {"rows": count, "bytes_per_message": round(sum(map(len, rows)) / count)}
    store = open_store(folder / "ours.db")
    report["ours"] = await ours(store, rows)
    report["search"] = {str(count): await searches(store)}
    if big > count:
        await fill(store, count, big)
        report["search"][str(big)] = await searches(store)  # type: ignore[index]
    store.close()
    report["raw"] = raw(folder, rows)
    report["ratio"] = round(report["ours"]["rows_per_second"] / report["raw"]["rows_per_second"], 2)  # type: ignore[index]
    return report


def main() -> None:
    """Run what was asked for and print it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--search", type=int, default=0, help="also measure search in this many rows")
    parser.add_argument("--processes", action="store_true", help="also let 8 processes write 2,000 commits each")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = asyncio.run(_measure(Path(folder), arguments.rows, arguments.search))
        if arguments.processes:
            report["processes"] = processes(Path(folder))
    print(json.dumps(report, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
