"""What a search finds of what was said, in other words: ``benchmarks/recall.py [--messages N] [--locomo FOLDER]``.

Prints one JSON object. ``worlds``: planted facts among what else is said, each asked in two ways (inflected, turned
round, partly other words), by language: the share whose message is the first, and among the first five. ``changed``:
facts that were told again with another value, and how often the newest is the first. ``kinds``: the same as ``worlds``
for identifiers of code, questions in which a finger slipped, long conversations and named times, with other words.
``speed``: with ``--messages``,
p50 and p95 of questions in a store of so many messages, in milliseconds of the clock and of the processor: on a machine
that does other things the second is the one to look at. ``locomo``: with the folder of the files of LoCoMo
(snap-research/locomo, CC BY-NC 4.0, not part of Hermes), the share of its questions whose evidence is among the first
five and ten messages.
"""

import argparse
import asyncio
import json
import random
import re
import string
import tempfile
import time
import tomllib
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest import mock

from hermes_core.store.history import append
from hermes_core.store.store import Store, open_store
from hermes_core.types import Message, Principal, Role, Session, Text

ME = Principal()
WORLD: Mapping[str, Any] = tomllib.loads((Path(__file__).parent / "recall_world.toml").read_text("utf-8"))
KINDS: Mapping[str, Any] = tomllib.loads((Path(__file__).parent / "recall_kinds.toml").read_text("utf-8"))
WHENS = {"yesterday": 1, "last week": 8, "three weeks ago": 21, "last month": 36, "in March": 95, "last year": 330}
NOW = datetime(2026, 6, 17, 12).timestamp()  # noqa: DTZ001 - the clock of the machine, as people name times
LANGUAGES = ("en", "ko", "ja", "zh")
FACTS, LENGTH = 400, 12
QUESTIONS = 40


def message(text: str, number: int) -> Message:
    """Return what is said by the person and by the model in turn."""
    role: Role = "assistant" if number % 2 else "user"
    return Message(role=role, parts=(Text(text=text),))


async def told(store: Store, name: str, texts: Sequence[str], at: float = 0.0) -> None:
    """Store a conversation that was held at a time."""
    await store.sessions.create(Session(id=name, origin="cli", owner=ME, created=at))

    def work(tx: Any) -> None:
        with mock.patch("time.time", return_value=at or time.time()):
            for number, text in enumerate(texts):
                append(tx, name, message(text, number), "")

    await store.database.run(work)


async def found(store: Store, words: str, limit: int) -> list[tuple[str, int]]:
    """Return which messages a search finds."""
    return [(hit.session_id, hit.message_id) for hit in await store.history.search(ME, words, limit=limit)]


async def world(store: Store, language: str, seed: int = 1, facts: int = FACTS) -> dict[str, float]:
    """Plant facts of a language among what else is said, and ask for each."""
    known, chance = WORLD[language], random.Random(f"{language}{seed}")
    names, places, foods = (known[kind].split() for kind in ("names", "places", "foods"))

    def filled() -> dict[str, Any]:
        return {
            "n": chance.choice(names),
            "p": chance.choice(places),
            "f": chance.choice(foods),
            "k": chance.randint(2, 9),
        }

    planted: dict[str, tuple[Sequence[str], tuple[str, int]]] = {}
    while len(planted) < facts:
        (said, *asks), given = chance.choice(known["facts"]), filled()
        about = said.format(**{**given, "k": "?"})
        if about in planted:
            given = filled()
            about = said.format(**{**given, "k": "?"})
        if about in planted and len(planted) > facts // 2:
            break
        if about in planted:
            continue
        place, name = chance.randrange(LENGTH), f"{language}{len(planted):05d}"
        texts = [chance.choice(known["around"]).format(**filled()) for _ in range(LENGTH)]
        texts[place] = said.format(**given)
        await told(store, name, texts)
        planted[about] = [ask.format(**given) for ask in asks], (name, place + 1)
    first = five = asked = 0
    for asks, where in planted.values():
        for ask in asks:
            hits = await found(store, ask, 5)
            first, five, asked = first + (hits[:1] == [where]), five + (where in hits), asked + 1
    return {"asked": asked, "first": round(first / asked, 3), "among_five": round(five / asked, 3)}


def slipped(text: str, chance: random.Random) -> str:
    """Return a text in one long word of which a finger slipped: a letter is lost, wrong, doubled or too early."""
    words = text.split()
    long = [at for at, word in enumerate(words) if len(word.strip("?:,")) >= 7 and word[0].isalpha()]
    place = chance.choice(long)
    word = words[place]
    at = chance.randrange(1, len(word) - 2)
    kinds = (word[at + 1 :], chance.choice(string.ascii_lowercase) + word[at + 1 :], word[at] + word[at:])
    turned = word[at + 1] + word[at] + word[at + 2 :]
    words[place] = word[:at] + chance.choice((*kinds, turned))
    return " ".join(words)


async def kind(store: Store, name: str, seed: int = 1, facts: int = 300) -> dict[str, float]:
    """Plant facts of a kind, each with questions that no other one answers, and ask for each."""
    known, chance = KINDS[name], random.Random(f"{name}{seed}")
    length, facts = known.get("length", LENGTH), known.get("facts_at_most", facts)

    def filled() -> dict[str, Any]:
        given: dict[str, Any] = {one: chance.choice(known[one].split()) for one in "abc"}
        more = {"A": given["a"].upper(), "B": given["b"].title(), "BB": given["b"].upper()}
        return {**given, **more, "k": chance.randint(2, 9)}

    told_of, seen = list[tuple[float, str, list[str], list[str], tuple[str, int]]](), set[str]()
    for number in range(20 * facts):
        (said, *asks), given = chance.choice(known["facts"]), filled()
        about = {said.format(**{**given, "k": "?"}), *(ask.format(**given, when="") for ask in asks)}
        if about & seen or len(told_of) >= facts * (3 if "when" in known else 1):
            continue
        seen |= about
        texts = [chance.choice(known["around"]).format(**filled()) for _ in range(length)]
        texts[at := chance.randrange(length)] = said.format(**given)
        for when in chance.sample(sorted(WHENS), 3) if "when" in known else [""]:
            session, asked = f"{name}{number:05d}{when}", [ask.format(**given, when=when) for ask in asks]
            told_of.append((NOW - WHENS.get(when, 0) * 86_400, session, texts, asked, (session, at + 1)))
    for time_, session, texts, *_ in sorted(told_of):
        await told(store, session, texts, time_)
    first = five = count = 0
    for _, _, _, asks, where in told_of:
        for ask in asks:
            with mock.patch("time.time", return_value=NOW):
                hits = await found(store, slipped(ask, chance) if "typo" in known else ask, 5)
            first, five, count = first + (hits[:1] == [where]), five + (where in hits), count + 1
    return {"asked": count, "first": round(first / count, 3), "among_five": round(five / count, 3)}


async def changed(store: Store, rounds: int = 11) -> dict[str, float]:
    """Tell facts again and again with other values; each time the newest is asked for."""
    known, chance = WORLD["changed"], random.Random(2)
    things = [f"{kind} {thing}" for kind in known["kinds"].split() for thing in known["things"].split()]
    asked = newest = 0
    for turn in range(rounds):
        for number, thing in enumerate(things):
            name = f"c{turn:03d}{number:05d}"
            said = chance.choice(known["said"]).format(a=thing, v=f"val{turn}{number}")
            await told(store, name, [said, chance.choice(("Noted.", "OK, saved.", "Got it."))])
            if turn:
                hits = await found(store, chance.choice(known["asked"]).format(a=thing), 5)
                asked, newest = asked + 1, newest + (bool(hits) and hits[0][0] == name)
    return {"asked": asked, "newest_first": round(newest / asked, 4)}


async def speed(store: Store, messages: int) -> dict[str, float]:
    """Fill a store with words by frequency, rare to common, and ask for several of them together."""
    chance = random.Random(3)
    letters = "bcdfgklmnprstv"
    words = list(
        dict.fromkeys(
            "".join(f"{chance.choice(letters)}{chance.choice('aeiou')}" for _ in range(3)) for _ in range(60_000)
        )
    )
    weights: list[float] = []
    for number in range(len(words)):
        weights.append((weights[-1] if weights else 0.0) + 1 / (number + 3))
    for start in range(0, messages, 50):
        texts = [
            " ".join(chance.choices(words, cum_weights=weights, k=chance.choice((8, 15, 25, 60)))) for _ in range(50)
        ]
        await told(store, f"s{start:08d}", texts)
    asks = [" ".join(chance.choices(words, cum_weights=weights, k=chance.randint(4, 9))) for _ in range(QUESTIONS)]
    clock, processor = list[float](), list[float]()
    for ask in [f"where did we say {ask}?" for ask in asks for _ in range(5)]:
        begun, used = time.perf_counter(), time.process_time()
        await found(store, ask, 10)
        clock.append((time.perf_counter() - begun) * 1e3)
        processor.append((time.process_time() - used) * 1e3)
    return {
        f"{name}_{kind}_ms": round(sorted(times)[int(len(times) * share)], 2)
        for kind, times in (("clock", clock), ("processor", processor))
        for name, share in (("p50", 0.5), ("p95", 0.95))
    }


async def locomo(folder: Path, files: Path) -> dict[str, float]:
    """Ask what LoCoMo asks of each of its conversations."""
    asked = five = ten = 0
    for number, file in enumerate(sorted(files.glob("*.json"))):
        talk, store = json.loads(file.read_text("utf-8")), open_store(folder / f"locomo{number}.db")
        where: dict[str, tuple[str, int]] = {}
        last = 0.0
        for session in range(1, 60):
            said = talk.get(f"session_{session}")
            if not said:
                continue
            last = datetime.strptime(talk[f"session_{session}_date_time"], "%I:%M %p on %d %B, %Y").timestamp()  # noqa: DTZ007
            texts = [f"{one['speaker']}: {one['text']} {one.get('blip_caption', '')}" for one in said]
            await told(store, f"s{session:02d}", texts, last)
            where |= {one["dia_id"]: (f"s{session:02d}", at) for at, one in enumerate(said, 1)}
        for question in talk["qa"]:
            named = re.findall(r"D\d+:\d+", " ".join(question.get("evidence", ())))
            if evidence := {where[one] for one in named if one in where}:
                with mock.patch("time.time", return_value=last + 86_400):
                    hits = await found(store, question["question"], 10)
                asked, five, ten = asked + 1, five + bool(evidence & {*hits[:5]}), ten + bool(evidence & {*hits})
        store.close()
    return {"asked": asked, "among_five": round(five / asked, 3), "among_ten": round(ten / asked, 3)}


async def _measured(folder: Path, messages: int, files: Path | None) -> dict[str, Any]:
    report: dict[str, Any] = {"worlds": {}, "kinds": {}}
    for language in LANGUAGES:
        store = open_store(folder / f"{language}.db")
        report["worlds"][language] = await world(store, language)
        store.close()
    for name in KINDS:
        store = open_store(folder / f"kind-{name}.db")
        report["kinds"][name] = await kind(store, name)
        store.close()
    store = open_store(folder / "changed.db")
    report["changed"] = await changed(store)
    store.close()
    if messages:
        store = open_store(folder / "many.db")
        report["speed"] = {"messages": messages, **await speed(store, messages)}
        store.close()
    if files:
        report["locomo"] = await locomo(folder, files)
    return report


def main() -> None:
    """Run what was asked for and print it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--messages", type=int, default=0, help="also measure the speed in so many messages")
    parser.add_argument("--locomo", type=Path, help="the folder of the files of LoCoMo")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(asyncio.run(_measured(Path(folder), arguments.messages, arguments.locomo)), indent=2))


if __name__ == "__main__":
    main()
