"""A message service that fails as services do, and remembers in a file what people see there.

What it took is a line in the file before anybody is told, so it survives the death of whoever asked. Every kind of
fault has its odds; the dice are seeded.
"""

import json
import os
import random
from collections.abc import Iterable
from pathlib import Path

from hermes_core.errors import NotSent, Undeliverable
from hermes_core.kinds import Platform
from hermes_core.types import Blob, Feature, Sent, Text

KINDS = {
    "keyed": frozenset({Feature.IDEMPOTENT, Feature.EDIT}),
    "keyed_only": frozenset({Feature.IDEMPOTENT}),
    "edits": frozenset({Feature.EDIT, Feature.MEDIA, Feature.TYPING}),
    "deletes": frozenset({Feature.EDIT, Feature.DELETE, Feature.MEDIA, Feature.TYPING}),
    "plain": frozenset({Feature.MEDIA}),
}
ODDS = {"lost": 0.15, "silent": 0.15, "flood": 0.2, "cut": 0.1, "no_edit": 0.0}


class FarEnd(Platform):
    """The service and the platform that talks to it in one.

    ``lost``: a time-out before it took a message; ``silent``: one after; ``flood``: 429, and whoever does not wait is
    reported; ``cut``: no connection; ``no_edit``: an edit is refused for good.
    """

    name, account = "far", "bot"

    def __init__(
        self, file: Path, kind: str, *, seed: object = 0, limit: int = 0, odds: dict | None = None, clock=None
    ):
        self.features = KINDS[kind]
        self.limit = limit
        self.odds = ODDS | (odds or {})
        self._file, self._dice, self._clock = file, random.Random(str(seed)), clock
        self.waits = (1.0, 7.0, 30.0)
        self.typing = 0
        self.impatient: list[str] = []
        self.floods: dict[str, float] = {}

    def receive(self):
        raise NotImplementedError

    async def send(self, chat, message, key):
        self._before(chat.id)
        known = [line for line in self.lines() if line["key"] == key]
        if known and Feature.IDEMPOTENT in self.features:
            message_id = known[0]["id"]
        else:
            message_id = f"m{len(self.lines())}"
            self._take(id=message_id, chat=chat.id, thread=chat.thread, key=key, text=_shown(message), edit=False)
        self._after()
        return Sent(chat=chat.id, message_id=message_id)

    async def show(self, chat, event):
        self.typing += 1

    async def edit(self, sent, message):
        self._before(sent.chat)
        if self._dice.random() < self.odds["no_edit"]:
            raise Undeliverable("this message cannot be edited any more")
        assert [line for line in self.lines() if line["id"] == sent.message_id], "there is no such message"
        self._take(id=sent.message_id, chat=sent.chat, thread="", key="", text=_shown(message), edit=True)
        self._after()

    async def delete(self, sent):
        self._before(sent.chat)
        self._take(id=sent.message_id, chat=sent.chat, thread="", key="", text=None, edit=True)
        self._after()

    def _before(self, chat: str) -> None:
        if self._clock and self._clock() < self.floods.get(chat, 0.0):
            self.impatient.append(chat)
        if self._roll("flood"):
            seconds = self._dice.choice(self.waits)
            if self._clock:
                self.floods[chat] = self._clock() + seconds
            raise NotSent("Too Many Requests", retry_after=seconds)
        if self._roll("cut"):
            raise NotSent("connection refused")
        if self._roll("lost"):
            raise TimeoutError

    def _after(self) -> None:
        if self._roll("silent"):
            raise TimeoutError

    def _roll(self, fault: str) -> bool:
        return self._dice.random() < self.odds[fault]

    def _take(self, **line) -> None:
        handle = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(handle, (json.dumps(line) + "\n").encode())
        os.close(handle)

    def lines(self) -> list[dict]:
        """What it took, in order."""
        return [json.loads(line) for line in self._file.read_text().splitlines()] if self._file.exists() else []

    def seen(self) -> list[tuple[str, str]]:
        """Chat and text of every message as people see it now, in the order they were sent."""
        shown: dict[str, tuple[str, str]] = {}
        for line in self.lines():
            shown[line["id"]] = (line["chat"], line["text"])
        return [(chat, text) for chat, text in shown.values() if text is not None]


def _shown(message) -> str:
    parts: Iterable = message.parts
    return "".join(p.text if isinstance(p, Text) else f"[{p.name}]" if isinstance(p, Blob) else "" for p in parts)
