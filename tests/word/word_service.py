"""A chat service with people on it that fails as services do, and remembers what people see. It outlives gateways."""

import asyncio
import json
import random
from collections import defaultdict
from typing import Any

from word_loopback import Loopback

KINDS = {
    "keyed": "IDEMPOTENT EDIT",
    "keyed_only": "IDEMPOTENT",
    "edits": "EDIT TYPING",
    "deletes": "EDIT DELETE TYPING",
    "plain": "",
}
ODDS = {"flood": 0.05, "broken": 0.04, "cut": 0.03, "hang": 0.015, "taken_cut": 0.04, "taken_hang": 0.015}


class Service(Loopback):
    """Serves on loopback from a thread of its own.

    ``flood`` refuses with a time to wait, ``broken`` without; ``cut`` ends the line before anything was taken and
    ``hang`` lets it wait; ``taken_cut`` and ``taken_hang`` do so after the message was taken.
    """

    def __init__(self, kind: str, seed: object, odds: dict[str, float] | None = None) -> None:
        self.features, self.odds = KINDS[kind], ODDS if odds is None else odds
        self.messages: dict[str, dict[str, Any]] = {}
        self.acked: set[str] = set()
        self.events: list[dict[str, str]] = []
        self.faults: dict[str, int] = defaultdict(int)
        self._keys: dict[str, str] = {}
        self._dice, self._waits = random.Random(str(seed)), (0.05, 0.3, 1.0)
        self._floods: dict[str, tuple[float, float]] = {}
        self.impatient = 0
        self._number = 0
        super().__init__()

    def write(self, name: str, chat: str, text: str) -> None:
        """A person writes."""
        self.events.append({"id": name, "chat": chat, "text": text})

    def seen(self) -> dict[str, list[str]]:
        """What people read in each chat, from above to below."""
        found = defaultdict(list)
        for message in list(self.messages.values()):
            if message["text"] is not None:
                found[message["chat"]].append(message["text"])
        return found

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if line := await reader.readline():
                told = await self._answer(json.loads(line))
                if told is not None:
                    writer.write(json.dumps(told).encode() + b"\n")
                    await writer.drain()
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _answer(self, what: dict[str, Any]) -> dict[str, Any] | None:
        operation = what.pop("op")
        if operation == "news":
            return await self._news(what["seen"])
        if operation == "me":
            return {}
        if operation == "ack":
            if self._dice.random() < self.odds.get("cut", 0):
                return None
            self.acked.add(what["id"])
            return {}
        fault = self._fault()
        chat = what.get("chat") or self.messages[what["message"]]["chat"]
        told, until = self._floods.get(chat, (0.0, 0.0))
        if told + 0.2 < self._loop.time() < until:  # what was under way when it was told is no offence
            self.impatient += 1
        if fault == "flood":
            after = self._dice.choice(self._waits)
            self._floods[chat] = self._loop.time(), self._loop.time() + after - 0.01
            return {"refused": "too many requests", "after": after}
        if fault == "broken":
            return {"refused": "internal server error"}
        if fault == "hang":
            await asyncio.sleep(10)
        if fault in ("cut", "hang"):
            return None
        told: dict[str, Any] = getattr(self, f"_{operation}")(**what)
        if fault == "taken_hang":
            await asyncio.sleep(10)
        return None if fault in ("taken_cut", "taken_hang") else told

    def _fault(self) -> str:
        at = self._dice.random()
        for fault, odds in self.odds.items():
            if at < odds:
                self.faults[fault] += 1
                return fault
            at -= odds
        return ""

    async def _news(self, seen: int) -> dict[str, Any]:
        """What nobody acknowledged; a gateway that has just come is told of all of it, and now and then twice."""
        for _ in range(100):
            new = [event for event in self.events[seen:] if event["id"] not in self.acked]
            if new or len(self.events) > seen:
                break
            await asyncio.sleep(0.03)
        if seen and self._dice.random() < 0.1:
            new = [*self.events[max(0, seen - 3) : seen], *new]
        return {"seen": len(self.events), "events": new}

    def _send(self, chat: str, text: str, key: str) -> dict[str, Any]:
        if key in self._keys and "IDEMPOTENT" in self.features:
            return {"id": self._keys[key]}
        self._number += 1
        self._keys[key] = name = f"m{self._number}"
        self.messages[name] = {"chat": chat, "text": text}
        return {"id": name}

    def _edit(self, message: str, text: str) -> dict[str, Any]:
        if self.messages[message]["text"] is None:
            return {"never": "the message is gone"}
        self.messages[message]["text"] = text
        return {}

    def _delete(self, message: str) -> dict[str, Any]:
        self.messages[message]["text"] = None
        return {}
