"""Proposals that put a memory in order: what says the same is merged, what a newer entry says otherwise is let go of.

A model proposes, this file holds it to its rules, and a person decides: nothing is done by itself. A merged entry may
say nothing that its parts do not say, and an entry goes only where a newer one is named that takes its place. What came
from outside, and what is kept out of prompts, is not looked at.
"""

import json
import re
import time
from collections.abc import Sequence

from hermes_core.brokers import LlmBroker
from hermes_core.errors import ToolError
from hermes_core.types import Message, Request, Session, Source, Text
from hermes_memory_files.changes import Operation
from hermes_memory_files.guard import objection
from hermes_memory_files.pending import Waiting, propose
from hermes_memory_files.store import FILES, MemoryStore

__all__ = ["due", "propose_order", "sound"]

_DAY = 86_400.0
_TOKENS = 1_000  # of an answer
_OWN = 0.8  # of the words of a merged entry that must stand in its parts
_WORD = re.compile(r"[^\W_]+")
_ASK = """\
You put a small memory in order. You get numbered entries with their age in days. Propose only what loses nothing:
- {"merge": [1, 4], "text": "..."}: entries that say the same or belong together, in one short entry. Use their own
  words and add nothing.
- {"drop": 2, "for": 5}: entry 2 is no longer true because entry 5, which is newer, says otherwise.
Answer with JSON alone: {"changes": [...]}, with an empty list where the memory is in order."""


def due(store: MemoryStore) -> bool:
    """Tell whether a day has passed since the last look, and something was kept since. It counts as looked at then.

    That is written first: whatever dies afterwards spends no more than one look a day.
    """
    place = store.folder / "tidied"
    try:
        last = place.stat().st_mtime
    except OSError:
        last = 0.0
    if time.time() - last < _DAY or store.changed() <= last:
        return False
    store.write(place, "")
    return True


async def propose_order(llm: LlmBroker, store: MemoryStore, session: Session | None = None) -> Sequence[Waiting]:
    """Have a model look at both files, a call for each; what waits then. Raises ToolError, HermesError."""
    made = []
    for target in FILES:
        known = store.sources()
        entries = [one for one in store.entries(target) if known(one).source.trusted and not objection(one)]
        if len(entries) < 2:
            continue
        times = [known(one).time for one in entries]
        told = "\n".join(
            f"{number}. ({f'{(time.time() - at) / _DAY:.0f} days' if at else 'by hand'}) {' '.join(text.split())}"
            for number, (text, at) in enumerate(zip(entries, times, strict=True), 1)
        )
        first = Message(role="system", parts=(Text(text=_ASK),))
        second = Message(role="user", parts=(Text(text=told),))
        asked = Request(model="", messages=[first, second], options={"max_tokens": _TOKENS})
        reply = await llm.complete(asked, task="memory", session=session)
        said = "".join(part.text for part in reply.message.parts if isinstance(part, Text))
        if operations := sound(said, entries, times):
            made.append(propose(store, target, operations, Source(by="tidying")))
    return made


def sound(said: str, entries: Sequence[str], times: Sequence[float]) -> list[Operation]:
    """The changes that keep to the rules; each entry is in one at most. Raises ToolError for what is no JSON."""
    try:
        changes = json.loads(said[said.index("{") : said.rindex("}") + 1])["changes"]
        found = [one for one in changes if isinstance(one, dict)]
    except (ValueError, KeyError, TypeError):
        raise ToolError("The model that puts memory in order did not answer with JSON.") from None
    operations, used = list[Operation](), set[int]()
    for one in found:
        numbers = one.get("merge") or [one.get("drop"), one.get("for")]
        if not isinstance(numbers, list) or not all(type(n) is int and 0 < n <= len(entries) for n in numbers):
            continue
        if len(set(numbers)) != len(numbers) or len(numbers) < 2 or used & set(numbers):
            continue
        parts = [entries[number - 1] for number in numbers]
        if "merge" in one and _is_theirs(one.get("text"), parts):
            text, gone = str(one["text"]).strip(), parts[1:]
            operations.append(Operation(action="replace", old=parts[0], text=text))
        elif "drop" in one and 0 < times[numbers[0] - 1] < times[numbers[1] - 1]:
            gone = parts[:1]
        else:
            continue
        operations += [Operation(action="remove", old=part) for part in gone]
        used |= set(numbers)
    return operations


def _is_theirs(text: object, parts: Sequence[str]) -> bool:
    """Tell whether a text says no more than its parts, and is no longer."""
    if not isinstance(text, str) or not text.strip() or len(text) > sum(map(len, parts)):
        return False
    theirs = {word.casefold() for part in parts for word in _WORD.findall(part)}
    words = [word.casefold() for word in _WORD.findall(text)]
    return sum(word in theirs for word in words) >= _OWN * len(words) and not objection(text)
