"""Bytes of every kind of page change: no command answers wrongly without a word, and what can be read comes back.

The long run: ``pytest -m long -o faulthandler_timeout=0 tests/word/test_damaged_store.py --flips 720 -s``.
"""

import json
import random
import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from word_home import Home

pytestmark = pytest.mark.long

PAGE, SESSIONS, SAID = 4096, 24, 14
READS = (
    ("sessions", "list", "--json", "-n", "100"),
    ("sessions", "export", "--all"),
    ("sessions", "search", "word", "--json", "-n", "1000"),
    ("sessions", "search", "talk7", "--json", "-n", "1000"),
)
KINDS = (
    "header", "rows", "rows of a plugin", "tree", "overflow", "index", "index tree", "search rows", "search tree",
    "free", "log head", "log frame", "log page",
)  # fmt: skip
MOST = 40  # messages that one damaged page may cost; long ones hang on one page of a tree
LETTERS = "texts with other letters, which nothing tells"  # no row has a checksum


class Store(NamedTuple):
    """A store as it was, with its log, and what commands say of it."""

    folder: Path
    pages: dict[str, list[int]]
    said: dict[tuple[str, ...], str]


def told(number: int) -> list[dict[str, Any]]:
    """A conversation with short, long and very long messages."""
    lines: list[dict[str, Any]] = [{"session": {"id": f"20260101_0000{number:02}_aaaaaaaa", "title": f"talk {number}"}}]
    for at in range(SAID):
        dice = random.Random(f"{number} {at}")
        words = " ".join(
            dice.choice(("word", "river", "Straße", "서울", "42")) for _ in range(dice.choice((5, 60, 1500)))
        )
        text = f"talk{number} line{at} word {words}"
        lines.append({"role": "assistant" if at % 2 else "user", "content": text})
    return lines


def said_by(home: Home, words: tuple[str, ...]) -> tuple[int, str, str]:
    """Status, answer and complaint of a command; ages are left out of the answer."""
    process = home.start(*words)
    status = process.wait()
    assert status is not None, words
    out = process.out
    if "search" in words:
        rows = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        out = "\n".join(json.dumps({k: v for k, v in row.items() if k != "when"}) for row in rows)
    assert "Traceback" not in process.err + process.out, (words, process.err)
    return status, out, process.err


def kinds_of(path: Path) -> dict[str, list[int]]:
    """The pages by what they are of; what is of no table or index is free."""
    found: dict[str, list[int]] = {"header": [1]}
    with closing(sqlite3.connect(path)) as connection:
        kinds = dict(connection.execute("SELECT name, type FROM sqlite_master"))
        used = set()
        for name, page, kind in connection.execute("SELECT name, pageno, pagetype FROM dbstat"):
            used.add(page)
            if page == 1:
                continue
            whose = "index" if kinds.get(name) == "index" else "search" if name.startswith("search") else "rows"
            if kind == "overflow":
                place = "overflow"
            elif whose == "index":
                place = "index tree" if kind == "internal" else "index"
            elif whose == "search":
                place = "search tree" if kind == "internal" or name == "search_idx" else "search rows"
            else:
                place = "tree" if kind == "internal" else "rows of a plugin" if "__" in name else "rows"
            found.setdefault(place, []).append(page)
        [count] = connection.execute("PRAGMA page_count").fetchone()
        found["free"] = [page for page in range(1, count + 1) if page not in used]
    return found


@pytest.fixture(scope="module")
def store(server, tmp_path_factory) -> Store:
    """One that was used: with free pages, tables of a plugin, and a log that was not worked in yet."""
    folder = tmp_path_factory.mktemp("whole")
    home = Home(folder, server, "model: {provider: offline}\n")
    lines = folder / "all.jsonl"
    lines.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for n in range(SESSIONS) for line in told(n)))
    home.run("sessions", "import", str(lines))
    for number in range(20, SESSIONS):
        home.run("sessions", "delete", f"20260101_0000{number:02}_aaaaaaaa", "--yes")
    home.run("gateway", "channels")
    home.run("store", "check")
    path = home.home / "state.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    pages = kinds_of(path)
    with closing(sqlite3.connect(path)) as holder:  # who has it open keeps the log from being worked in
        holder.execute("SELECT 1 FROM owners").fetchall()
        for text in ("the first thing in the log", "the last thing in the log"):
            home.run("-z", text)
        for end in ("", "-wal"):
            shutil.copyfile(f"{path}{end}", folder / f"kept.db{end}")
    said = {words: said_by(home, words)[1] for words in READS}
    return Store(home.home, pages, said)


def damaged(store: Store, path: Path, kind: str, dice: random.Random) -> str:
    """Change some bytes of a page of this kind; which."""
    kept = store.folder.parent / "kept.db"
    logged = kind.startswith("log")
    for end in ("", "-wal") if logged else ("",):
        shutil.copyfile(f"{kept}{end}", f"{path}{end}")
    if not logged:  # nothing is in its log that would cover the page
        shutil.copyfile(f"{kept}-wal", f"{path}-wal")
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        Path(f"{path}-wal").unlink(missing_ok=True)
        Path(f"{path}-shm").unlink(missing_ok=True)
        pages = kinds_of(path)
        base, first, last = (dice.choice(pages[kind]) - 1) * PAGE, 0, 100 if kind == "header" else PAGE
        file = path
    else:
        file = Path(f"{path}-wal")
        frame = dice.randrange((file.stat().st_size - 32) // (PAGE + 24))
        base = 0 if kind == "log head" else 32 + frame * (PAGE + 24)
        first, last = {"log head": (0, 32), "log frame": (0, 24), "log page": (24, PAGE + 24)}[kind]
    places = [base + dice.randrange(first, last) for _ in range(dice.choice((1, 1, 8, 60)))]
    mask = dice.choice((0xFF, 0xFF, 1 << dice.randrange(8)))
    with file.open("r+b") as handle:
        for place in places:
            handle.seek(place)
            [byte] = handle.read(1)
            handle.seek(place)
            handle.write(bytes([byte ^ mask]))
    return f"{kind} of {file.name}, at {places[:8]} by {mask:#x}"


def conversations(text: str) -> dict[str, list[str]]:
    """The messages of each session of an export."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        row = json.loads(line)
        if "session" in row:
            name = row["session"]["id"]
            found[name] = []
        elif row["role"] != "system":
            found[name].append(f"{row['role']}: {row['content']}")
    return found


def kept(whole: str, left: str) -> tuple[int, int]:
    """How many messages are gone, and how many say something else."""
    before, after = conversations(whole), conversations(left)
    gone = other = 0
    for name, said in before.items():
        there = after.get(name, [])
        other += sum(text not in said for text in there)
        gone += max(0, len(said) - len(there))
    return gone, other


def pytest_generate_tests(metafunc) -> None:
    """Play some kinds of pages, or all where many flips are wanted."""
    few = metafunc.config.getoption("flips") < 100
    metafunc.parametrize("kind", ("rows", "overflow", "search rows", "log page") if few else KINDS)


@pytest.mark.timeout(7200)
def test_changed_bytes_are_told_and_what_can_be_read_comes_back(store, server, tmp_path, kind, pytestconfig):
    dice, tally = random.Random(f"damage {kind}"), Counter[str]()
    for number in range(max(1, pytestconfig.getoption("--flips") // 30)):
        home = Home(tmp_path / str(number), server, "model: {provider: offline}\n")
        what = damaged(store, home.home / "state.db", kind, dice)
        tally["flips"] += 1
        one_flip(store, home, what, tally)
        shutil.rmtree(tmp_path / str(number))
    print(f"\ndamage, {kind}: {dict(tally)}")


def one_flip(store: Store, home: Home, what: str, tally: Counter[str]) -> None:
    """Look, ask as a person would, mend, and ask again."""
    status, out, err = said_by(home, ("store", "check"))  # first: who opens a damaged log goes on from the damage
    assert status in (0, 1), (what, out, err)
    sound = not status
    for words in READS:
        status, out, err = said_by(home, words)
        assert not status or err.strip(), (what, words, "no word")
        assert not (status and sound), (what, words, err, "was sound")
        if out != store.said[words] and sound:
            gone, other = kept(store.said[words], out) if "export" in words else (0, 0)
            assert not gone, (what, words, "are not there, and nothing tells")
            tally[LETTERS] += other
    tally["told" if sound is False else "nothing to tell"] += 1
    if sound:
        return
    status, out, err = said_by(home, ("store", "repair", "--yes"))
    if status:
        assert (err or out).strip(), what
        tally[f"not mended: {(err or out).strip()[:60]}"] += 1
        return
    status, out, err = said_by(home, ("store", "check"))
    assert status == 0, (what, "is not sound after a repair", out, err)
    status, out, err = said_by(home, READS[1])
    assert status == 0, (what, err)
    gone, other = kept(store.said[READS[1]], out)
    assert gone <= MOST, (what, gone)
    tally["mended"] += 1
    tally["messages lost"] += gone
    tally["messages that say something else"] += other
    status, out, err = said_by(home, ("-z", "hello"))
    assert status == 0, (what, err)
