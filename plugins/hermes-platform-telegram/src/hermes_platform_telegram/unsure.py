"""What may have arrived without a receipt: it is taken away once the same was said again.

Telegram knows no keys, so a message whose receipt is lost is sent again. Its numbers only grow, so the first one, if it
arrived, lies between the last message that was known before it and the second one. What has a number that nobody here
knows is passed on within the chat, silently: that tells what it is, and changes nothing. Only what this bot said, and
what says the very same, is deleted, and what was passed on.
"""

import logging
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager

from hermes_core.errors import HermesError, NotSent, Undeliverable
from hermes_core.types import JSON, Chat, Sent
from hermes_platform_telegram.failures import Lost, Refused

__all__ = ["Unsure"]

REACH = 20  # numbers before the second message that are looked at
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

    def doubtful(self, sent: Sent, text: str) -> range:
        """The numbers among which the same text may be for a second time, now that it was sent surely."""
        place, last = self._at(sent.chat), int(sent.message_id) if sent.message_id.isdecimal() else 0
        when, before = place.lost.pop(text, (0.0, 0))
        if not before or self._clock() - when > _LIFE or place.flying:
            return range(0)
        return range(max(before + 1, last - REACH), last)

    async def clear(self, chat: Chat, text: str, numbers: range) -> None:
        """Take away what is among these numbers and says the same. A fault leaves it there."""
        known = set(self._at(chat.id).known)
        try:
            for number in numbers:
                if number not in known and await self._says(chat, number, text):
                    await self._call("deleteMessage", chat, {"message_id": number})
                    self._log.info("Message %d in %s was there twice, and is taken away.", number, chat.id)
        except (Refused, Lost, HermesError, KeyError, TypeError, ValueError) as error:
            self._log.info("What may be twice in %s stays: %s", chat.id, error)

    async def _says(self, chat: Chat, number: int, text: str) -> bool:
        """Whether a message is of this bot, and says this. Raises Refused, Lost."""
        where = {"from_chat_id": chat.id, "message_id": number, "disable_notification": True}
        thread = {"message_thread_id": int(chat.thread)} if chat.thread.isdecimal() else {}
        try:
            passed_on = await self._call("forwardMessage", chat, {**where, **thread})
        except Refused as refusal:
            if refusal.status != 400:
                raise
            return False  # there is none of this number here
        await self._call("deleteMessage", chat, {"message_id": int(passed_on["message_id"])})
        origin = passed_on.get("forward_origin") or {}
        mine = str((origin.get("sender_user") or {}).get("id")) == self._me
        return mine and bool(passed_on.get("text") == text)

    def _at(self, chat: str) -> _Place:
        place = self._places.setdefault(chat, _Place())
        self._places.move_to_end(chat)
        while len(self._places) > _CHATS:
            self._places.popitem(last=False)
        return place
