"""An answer that is shown while it is written: one message that is edited, and typing signs.

What is shown here is a courtesy; the answer itself is a row of the outbox. Its draft knows the ids of the messages that
show it before anything is written into them, so whoever sends the answer, after a death too, edits it into these. A
message begins as a placeholder: one whose receipt is lost says nothing that is not so.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress

from attrs import evolve

from hermes_core.errors import HermesError, NotSent
from hermes_core.types import Chat, Event, Feature, Sent, Started
from hermes_platform_gateway.config import GatewaySettings
from hermes_platform_gateway.outward.pieces import said
from hermes_platform_gateway.outward.progress import Progress
from hermes_platform_gateway.outward.rate_limiter import RateLimiter
from hermes_platform_gateway.outward.sender import PLACEHOLDER, Sender
from hermes_platform_gateway.outward.split import split_text
from hermes_platform_gateway.rows.values import OutboxRow, Outgoing

__all__ = ["LiveMessage"]

log = logging.getLogger(f"hermes.{__name__}")
_TYPING = 4.0  # seconds between two typing signs; services show one for about five
_PATIENCE = 20.0  # seconds that a service may take for an edit
_RELUCTANCE = 3  # times the usual pause before an edit for few characters
_FLOODS = 3  # times to be told to wait before only the final text is sent


class _Stop(Exception):
    """It cannot be shown."""


class LiveMessage:
    """Shows one turn in its chat. ``outgoing`` is what its answer will be sent as; its message does not matter yet.

    Nothing here is waited for by the turn, and nothing that fails here costs more than the show.
    """

    def __init__(
        self,
        sender: Sender,
        outgoing: Outgoing,
        settings: GatewaySettings,
        *,
        mask: Callable[[str], str] = str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._outbox, self._platform, self._sender, self._outgoing = sender.outbox, sender.platform, sender, outgoing
        self._settings, self._mask, self._clock = settings, mask, clock
        self._progress = Progress(settings.streaming, settings.tool_progress, mask)
        self._limiter: RateLimiter = sender.limiter
        self._row: OutboxRow | None = None
        self._messages: list[tuple[str, str]] = []  # the ids of the messages that show it, and what stands there
        self._changed, self._over = asyncio.Event(), asyncio.Event()
        self._closed = False
        self._floods, self._text, self._last = 0, "", clock()
        self._tasks: list[asyncio.Task[None]] = []

    async def event(self, event: Event) -> None:
        """One thing that happened in the turn. Returns at once."""
        if isinstance(event, Started):
            self._start(event)
        self._progress.add(event)
        self._changed.set()
        if self._progress.ended:
            self._over.set()

    def _start(self, event: Started) -> None:
        features = self._platform.features
        if Feature.TYPING in features:
            self._tasks.append(asyncio.create_task(self._type(event), name="typing"))
        if Feature.EDIT in features and self._progress.wanted:
            self._sender.shown[self._outgoing.key] = self
            self._tasks.append(asyncio.create_task(self._write(), name="live"))

    async def close(self) -> None:
        """Change nothing more, and wait until the last change is over. Closing twice is quiet."""
        self._closed = True
        self._changed.set()
        self._over.set()
        for task in self._tasks:
            if task.get_name() == "typing":
                task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        if not self._messages:
            self._sender.shown.pop(self._outgoing.key, None)

    # --- typing -----------------------------------------------------------------------------------------------------

    async def _type(self, event: Started) -> None:
        while True:
            if not self._limiter.left(self._outgoing.chat.id):
                with suppress(Exception):  # nobody misses a sign
                    async with asyncio.timeout(_PATIENCE):
                        await self._platform.show(self._outgoing.chat, event)
            await asyncio.sleep(_TYPING)

    # --- writing ----------------------------------------------------------------------------------------------------

    async def _write(self) -> None:
        """Bring what is shown up to date, again and again; stop when it cannot be done."""
        try:
            while (text := await self._news()) is not None:
                await self._patiently(text)
        except Exception as error:  # noqa: BLE001 - a time-out, mostly: what the service did is not known
            self._log("is shown no further", error)
            await self._over.wait()
        try:
            if self._messages and self._progress.unsaid:  # what is shown is not the start of an answer any more
                await self._outbox.send_later(evolve(self._outgoing, message=said(self._progress.text())))
        except HermesError as error:  # its draft is taken up when the sender starts again
            self._log("left what it was shown in", error)

    def _log(self, what: str, error: Exception) -> None:
        told = str(error) if isinstance(error, HermesError | _Stop) else type(error).__name__
        log.info("turn %s %s: %s", self._outgoing.turn_id, what, self._mask(told))

    async def _news(self) -> str | None:
        """What is to be shown now, when it is time for that; None when the turn is over."""
        least = self._settings.edit_seconds
        while not (self._closed or self._progress.ended):
            await self._changed.wait()
            age = self._clock() - self._last
            if (wait := max(least - age, self._limiter.left(self._outgoing.chat.id))) > 0:
                await self._sleep(wait)
                continue
            text = self._progress.text()
            if text == self._text:
                self._changed.clear()
            elif abs(len(text) - len(self._text)) >= self._settings.edit_chars or age >= _RELUCTANCE * least:
                return text
            else:
                await self._sleep(least)
        return None

    async def _sleep(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._over.wait()

    async def _patiently(self, text: str) -> None:
        """Show a text; told to wait, do so, but not for ever. Raises what the service raised."""
        self._last = self._clock()
        try:
            async with asyncio.timeout(_PATIENCE):
                shown = await self._show(text)
        except NotSent as error:
            self._floods += 1
            if self._floods > _FLOODS:
                raise
            wait = self._limiter.backoff(self._outgoing.key) if error.retry_after is None else error.retry_after
            self._limiter.pause(self._outgoing.chat.id, wait, everywhere=error.everywhere)
        else:
            self._text = text if shown else self._text

    async def _show(self, text: str) -> bool:
        """Bring a text into the messages; False while something older is to be said there first."""
        limit, length = self._platform.limit, self._platform.length
        if limit and length(text) > limit:
            text = self._progress.saying()
        pieces = split_text(text, limit, length) if text.strip() else []
        while len(self._messages) < len(pieces) and not self._closed:
            if not await self._place():
                return False
        pieces += [PLACEHOLDER] * (len(self._messages) - len(pieces))
        for number, piece in enumerate(pieces[: len(self._messages)]):
            message_id, shown = self._messages[number]
            if shown != piece and not self._closed:
                await self._platform.edit(Sent(chat=self._outgoing.chat.id, message_id=message_id), said(piece))
                self._messages[number] = message_id, piece
        return True

    async def _place(self) -> bool:
        """One more message to write into. Its id is stored before anything is written.

        False while an older message of the chat is not sent: it would stand above that for ever.
        """
        if self._row is None:
            self._row = await self._outbox.draft(self._outgoing)
            self._messages = [(message_id, "") for message_id in self._row.placeholders]  # a former life's
            if self._messages:
                return True
        if await self._outbox.waits_before(self._row):
            return False
        number, chat = len(self._messages), self._outgoing.chat
        if number:
            chat = Chat(chat.id, chat.thread)
        sent = await self._platform.send(chat, said(PLACEHOLDER), f"{self._outgoing.key}:shown:{number}")
        if sent is None:
            raise _Stop("the service does not say where its messages are")
        self._messages.append((sent.message_id, PLACEHOLDER))
        if not await self._outbox.mark_draft(self._row.id, [message_id for message_id, _ in self._messages]):
            raise _Stop("the answer is being sent")
        return True
