"""Telegram's Bot API on loopback, which fails as services do, in a thread of its own; gateways come and go."""

import asyncio
import random
import sys
import threading
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

sys.path.insert(0, str(Path(__file__).parents[2] / "plugins" / "hermes-platform-telegram" / "tests"))

from telegram_service import TOKEN, BotApiServer, Fault, refused
from telegram_service import number as number_of

__all__ = ["TOKEN", "Telegram", "number_of"]

ODDS = {"flood": 0.04, "broken": 0.04, "cut": 0.03, "hang": 0.01, "garbage": 0.02}
ODDS |= {"taken_cut": 0.04, "taken_hang": 0.01}
FAULTS: dict[str, Callable[[], Fault]] = {
    "flood": lambda: refused(429, "Too Many Requests: retry after 1", retry_after=1),
    "broken": lambda: Fault(status=502, body=b"<html>Bad Gateway</html>"),
    "cut": lambda: Fault(cut=True),
    "garbage": lambda: Fault(body=b"{", after=True),
    "hang": lambda: Fault(hang=True),
    "taken_cut": lambda: Fault(cut=True, after=True),
    "taken_hang": lambda: Fault(hang=True, after=True),
}
SENDS = ("sendMessage", "editMessageText", "deleteMessage", "forwardMessage")


class Lossy(BotApiServer):
    """The same, with dice."""

    def __init__(self, seed: object) -> None:
        super().__init__()
        self.dice, self.rolled = random.Random(str(seed)), defaultdict[str, int](int)

    async def _route(self, request: Any, body: bytes) -> Any:
        method = request.target.decode().rpartition("/")[2]
        at = self.dice.random() * (1 if method in SENDS else 10)
        for fault, odds in ODDS.items():
            if at < odds and (method in SENDS or (method in ("getUpdates", "getMe") and "hang" not in fault)):
                self.rolled[f"{fault} {method}"] += 1
                self.script(method, FAULTS[fault]())
                break
            at -= odds
        return await super()._route(request, body)


class Telegram:
    """What a street needs of it."""

    impatient = 0

    def __init__(self, chats: list[str], seed: object) -> None:
        self._names = {number_of(chat): chat for chat in chats}
        self._service, self._loop = Lossy(seed), asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._do(self._service.start)
        self.url = self._service.url
        return self

    def __exit__(self, *exception: object) -> None:
        self._do(self._end)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, what: Callable[[], Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(what(), self._loop).result(30)

    async def _end(self) -> None:
        await self._service.stop()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    @property
    def acked(self) -> set[int]:
        """The messages that Telegram may forget."""
        return set(self._service.confirmed)

    @property
    def faults(self) -> dict[str, int]:
        """What the dice gave."""
        return self._service.rolled

    def write(self, name: str, chat: str, text: str) -> None:
        """A person writes."""
        self._do(lambda: self._service.say(text, sender=chat))

    def seen(self) -> dict[str, list[str]]:
        """What people read in each chat, from above to below."""

        async def read() -> dict[str, list[str]]:
            found = {}
            for chat, messages in self._service.chats.items():
                texts = [messages[at].get("text") for at in sorted(messages)]
                found[self._names[chat]] = [text for text in texts if text is not None]
            return found

        return dict(self._do(read))
