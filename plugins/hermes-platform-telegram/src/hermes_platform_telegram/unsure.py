"""What may have arrived without a receipt: it is taken away once the same was said again.

Telegram knows no keys, so a message whose receipt is lost is sent again. Its numbers only grow, so the first one, if it
arrived, lies between the last message that was known before it and the second one. What has a number that nobody here
knows is passed on within the chat, silently: that tells what it is, and changes nothing. Only what this bot said, and
what says the very same, is deleted, and what was passed on.
"""

import asyncio
import logging
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice

from hermes_core.errors import HermesError, NotSent, Undeliverable
from hermes_core.types import JSON, Chat, Sent
from hermes_platform_telegram.failures import Lost, Refused

__all__ = ["Unsure"]

REACH = 20  # numbers before the second message that are looked at
PAUSE = 1.0  # seconds after a fault
_FAR = 1_000  # numbers before it beyond which nothing is looked for
_TRIES = 4  # after the first one
_SUPERGROUP = "-100"  # the first digits of their ids, and of channels'
_CHATS = 500  # that are remembered
_KNOWN = 100  # numbers of a chat that are remembered
_LIFE = 900.0  # seconds in which what is said again is the same message
Call = Callable[[str, Chat, Mapping[str, JSON]], Awaitable[JSON]]


class _Place:
    """What is known of one chat: ``lost`` texts with when, and after which message, they were sent."""

    def __init__(self) -> None:
        self.known: deque[int] = deque(maxlen=_KNOWN)
        self.lost: dict[str, tuple[float, int]] = {}
        self.flying = 0


class Unsure:
    """Remembers the messages of chats. ``me`` is the bot's number; ``call`` calls a method of Telegram for a chat."""

    def __init__(
        self, me: str, call: Call, log: logging.Logger, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._me, self._call, self._log, self._clock = me, call, log, clock
        self._places: OrderedDict[str, _Place] = OrderedDict()

    def knows(self, chat: str, message_id: str) -> None:
        """Take note of a message that is there: it came, or was sent with a receipt."""
        if message_id.isdecimal():
            self._at(chat).known.append(int(message_id))

    @contextmanager
    def sending(self, chat: str, text: str) -> Iterator[None]:
        """Take note of a text whose receipt is lost in this block."""
        place = self._at(chat)
        before = max(place.known, default=0)
        place.flying += 1
        try:
            yield
        except (NotSent, Undeliverable):
            raise
        except BaseException:  # also when nobody waits any longer: it was asked
            place.lost.setdefault(text, (self._clock(), before))
            raise
        finally:
            place.flying -= 1

    def doubtful(self, sent: Sent, text: str) -> Sequence[int]:
        """The numbers that the same text may have for a second time, now that it was sent surely: the latest first."""
        place, last = self._at(sent.chat), int(sent.message_id) if sent.message_id.isdecimal() else 0
        when, before = place.lost.pop(text, (0.0, 0))
        if not before or self._clock() - when > _LIFE or place.flying:
            return ()
        known = self._known(sent.chat)
        between = (number for number in range(last - 1, max(before, last - _FAR), -1) if number not in known)
        return tuple(islice(between, REACH))

    async def clear(self, chat: Chat, text: str, numbers: Sequence[int]) -> None:
        """Take away what has these numbers and says the same. A fault that lasts leaves it there."""
        try:
            for number in numbers:
                if number not in self._known(chat.id) and await self._says(chat, number, text):
                    await self._delete(chat, number)
                    self._log.info("Message %d in %s was there twice, and is taken away.", number, chat.id)
        except (Refused, Lost, HermesError, KeyError, TypeError, ValueError) as error:
            self._log.info("What may be twice in %s stays: %s", chat.id, error)

    async def _says(self, chat: Chat, number: int, text: str) -> bool:
        """Whether a message is of this bot, and says this. Raises Refused, Lost."""
        where = {"from_chat_id": chat.id, "message_id": number, "disable_notification": True}
        thread = {"message_thread_id": int(chat.thread)} if chat.thread.isdecimal() else {}
        try:
            passed_on, strays = await self._patiently("forwardMessage", chat, {**where, **thread})
        except Refused as refusal:
            if refusal.status != 400:
                raise
            return False  # there is none of this number here
        copy = int(passed_on["message_id"])
        await self._delete(chat, copy)
        origin = passed_on.get("forward_origin") or {}
        mine = str((origin.get("sender_user") or {}).get("id")) == self._me
        same = mine and bool(passed_on.get("text") == text)
        # What was passed on without a receipt is there, too. Nothing that is being sent has a lower number then.
        if strays and same and not self._at(chat.id).flying:
            await self.clear(chat, text, range(copy - 1, max(number, copy - REACH), -1))
        return same

    async def _delete(self, chat: Chat, number: int) -> None:
        """Delete a message, which may be gone already. Raises Refused, Lost."""
        try:
            await self._patiently("deleteMessage", chat, {"message_id": number})
        except Refused as refusal:
            if not refusal.says("not found"):
                raise

    async def _patiently(self, method: str, chat: Chat, given: Mapping[str, JSON]) -> tuple[JSON, bool]:
        """Call it again after faults that pass; whether it may have been done before, too. Raises Refused, Lost."""
        before = False
        for left in range(_TRIES, -1, -1):
            try:
                return await self._call(method, chat, given), before
            except Lost as lost:
                if not left:
                    raise
                before, pause = before or lost.maybe, PAUSE
            except Refused as refusal:
                if not left or (refusal.status < 500 and refusal.status != 429):
                    raise
                pause = PAUSE if refusal.retry_after is None else refusal.retry_after
            await asyncio.sleep(pause)
        raise AssertionError

    def _known(self, chat: str) -> set[int]:
        """The numbers in use as far as is known. But for supergroups all chats of a bot count together."""
        if chat.startswith(_SUPERGROUP):
            return set(self._at(chat).known)
        return {n for name, place in self._places.items() if not name.startswith(_SUPERGROUP) for n in place.known}

    def _at(self, chat: str) -> _Place:
        place = self._places.setdefault(chat, _Place())
        self._places.move_to_end(chat)
        while len(self._places) > _CHATS:
            self._places.popitem(last=False)
        return place
