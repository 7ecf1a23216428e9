"""Sending what waits in the outbox of one account: in order within a chat, several chats side by side.

What is about to be asked of the service is a row before it is asked, and what the service said is a row before anything
else is. So whoever finds the rows after a death goes on from them; ``attempt`` decides how.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar
from uuid import uuid4

from attrs import evolve

from hermes_core.errors import NotSent, StoreError, Undeliverable
from hermes_core.gateway.attempt import Attempt, attempt
from hermes_core.gateway.pace import Pace
from hermes_core.gateway.pieces import is_text, pieces_of, said
from hermes_core.kinds import Platform
from hermes_core.store.journal import Store
from hermes_core.store.killpoints import die_at
from hermes_core.store.outbox import KEPT, OutboxRow
from hermes_core.types import Blob, Message, Sent

__all__ = ["PLACEHOLDER", "Prepare", "Sender"]

T = TypeVar("T")
Prepare = Callable[[OutboxRow], Awaitable[Message]]
log = logging.getLogger(__name__)
PLACEHOLDER = "…"
_PATIENCE = 300.0  # seconds that a service may take for one message; files may be large
_HOUR = 3600.0


class _Replaced(Exception):
    """Another sender has the row by now."""


class Sender:
    """Sends for one account until it is stopped. One runs for an account at a time: who holds its lease.

    ``prepare`` gives the message a row is sent as (plugins may change it); asked once, before the first try. ``mask``
    takes secrets out of errors before they are stored. ``poll`` is how often, in seconds, other processes' rows are
    looked for; for rows of this one call ``wake``.
    """

    def __init__(
        self,
        store: Store,
        platform: Platform,
        *,
        prepare: Prepare | None = None,
        mask: Callable[[str], str] = str,
        pace: Pace | None = None,
        clock: Callable[[], float] = time.time,
        poll: float = 1.0,
        side_by_side: int = 32,
    ) -> None:
        self.holder = uuid4().hex
        self.pace = pace or Pace(clock)
        self._store, self._platform, self._prepare, self._mask = store, platform, prepare, mask
        self._clock, self._poll, self._most = clock, poll, side_by_side
        self._busy: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._woken = asyncio.Event()
        self._stopping = False
        self._pruned = 0.0

    def wake(self) -> None:
        """Something was put into the outbox, or the service can be reached again."""
        self._woken.set()

    async def run(self) -> None:
        """Send what is due and whatever comes, until ``stop`` or cancelled. What is being sent then may have arrived."""
        try:
            while not self._stopping:
                self._woken.clear()
                wait = await self._look()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._woken.wait(), wait)
            await self.rest()
        finally:
            for task in self._busy.values():
                task.cancel()
            await self.rest()

    def stop(self) -> None:
        """Begin nothing new; ``run`` ends when what is being sent has its receipt."""
        self._stopping = True
        self.wake()

    async def settle(self) -> float:
        """Send what is due now, and wait for it; the seconds until something is due again, at most ``poll``."""
        while True:
            wait = await self._look()
            if not self._busy:
                return wait
            await self.rest()

    async def rest(self) -> None:
        """Wait for what is being sent."""
        while self._busy:
            await asyncio.wait(self._busy.values())
            await asyncio.sleep(0)  # what they leave behind is done after them

    async def _look(self) -> float:
        """Begin to send what is due; the seconds until to look again."""
        now, free = self._clock(), self._most - len(self._busy)
        who = self._platform.name, self._platform.account
        try:
            if now - self._pruned > _HOUR:
                await self._store.prune_outbox(now - KEPT)
                self._pruned = now
            rows = await self._store.due(*who, now, 2 * self._most, holder=self.holder) if free else []
            due = await self._store.next_due(*who)
        except StoreError as error:
            log.error("the outbox of %s cannot be read: %s", self._platform.name, error)
            return self._poll
        for row in rows:
            chat = row.outgoing.chat
            place = (chat.id, chat.thread)
            if place not in self._busy and len(self._busy) < self._most and not self.pace.left(chat.id):
                task = self._busy[place] = asyncio.create_task(self._deliver(row), name=f"send:{row.id}")
                task.add_done_callback(partial(self._done, place))
        return max(0.0, min(self._poll, due - now)) if due is not None and due > now else self._poll

    def _done(self, place: tuple[str, str], task: "asyncio.Task[None]") -> None:
        del self._busy[place]
        self.wake()

    async def _deliver(self, row: OutboxRow) -> None:
        """Send the pieces of one row, as far as they go now."""
        try:
            pieces = row.pieces or pieces_of(await self._prepared(row), self._platform)
            if not pieces:
                await self._store.abandon(row.id, "It says nothing.")
            while pieces and (rest := await self._piece(row, pieces)):
                row, pieces = rest, rest.pieces
        except _Replaced:
            log.warning("message %s is sent by somebody else", row.outgoing.key)
        except StoreError as error:
            log.error("message %s cannot be sent now: %s", row.outgoing.key, error)
            await asyncio.sleep(self._poll)
        except ValueError as error:  # no piece could ever fit
            await self._give_up(row, [row.outgoing.message], str(error))

    async def _prepared(self, row: OutboxRow) -> Message:
        return await self._prepare(row) if self._prepare else row.outgoing.message

    async def _piece(self, before: OutboxRow, pieces: Sequence[Message]) -> OutboxRow | None:
        """Send the next piece; the row as it is for the one after it, or None when there is nothing to do now."""
        now, number = self._clock(), len(before.receipts)
        todo = attempt(before, pieces[number], self._platform, now)
        if todo.hopeless:
            return await self._give_up(before, pieces, todo.hopeless)
        repeated = number + 1 if todo.repeated else before.repeated
        if not await self._store.mark_sending(before, self.holder, pieces, repeated=repeated, now=now):
            raise _Replaced
        mine = {"pieces": pieces, "holder": self.holder}
        row = evolve(before, **mine, tries=before.tries + 1, repeated=repeated, sent=before.sent or now)
        before = evolve(before, **mine)
        die_at("sending")
        try:
            receipt, row = await self._ask(row, todo)
        except NotSent as error:
            return await self._again(before, error)
        except Undeliverable as error:
            return await self._refused(row, before, todo, error)
        except Exception as error:  # noqa: BLE001 - whatever it is, the message may have arrived
            return await self._again(row, error)
        die_at("accepted")
        receipts, left = (
            [*row.receipts, receipt],
            row.placeholders[1:] if todo.how != "send" or row.placeholders else (),
        )
        left = await self._clear(row, left, pieces[len(receipts) :])
        await self._surely(partial(self._store.mark_sent, row, self.holder, receipts, left))
        die_at("receipted")
        self.pace.went_well(row.id)
        if len(receipts) == len(pieces):
            return None
        return evolve(row, state="waiting", receipts=receipts, placeholders=left, tries=0, sent=0.0, due=0.0)

    async def _ask(self, row: OutboxRow, todo: Attempt) -> tuple[str, OutboxRow]:
        """Ask the service. The receipt, and the row with the placeholder that it went into."""
        async with asyncio.timeout(_PATIENCE):
            if todo.how == "send":
                sent = await self._platform.send(todo.chat, todo.message, todo.key)
                return sent.message_id if sent else "", row
            if todo.how == "place":
                placed = await self._platform.send(todo.chat, said(PLACEHOLDER), todo.key)
                die_at("accepted")
                row = evolve(row, placeholders=(placed.message_id if placed else "",), tries=0)
                await self._surely(partial(self._store.mark_placeholder, row.id, self.holder, row.placeholders))
        return "", row
