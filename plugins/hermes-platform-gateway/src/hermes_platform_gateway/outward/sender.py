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
from typing import Protocol
from uuid import uuid4

from attrs import evolve

from hermes_core.codec import plain_text
from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, NotSent, StoreError, Undeliverable
from hermes_core.kinds import Platform
from hermes_core.types import Blob, Feature, Message, Sent
from hermes_platform_gateway.outward.attempt import GIVEN_UP, Attempt, attempt
from hermes_platform_gateway.outward.pieces import is_text, pieces_of, said
from hermes_platform_gateway.outward.rate_limiter import RateLimiter
from hermes_platform_gateway.peers import peers_of
from hermes_platform_gateway.people.leaving import put_out
from hermes_platform_gateway.rows.kept import end_drafts, rows_of
from hermes_platform_gateway.rows.values import KEPT, OutboxRow
from hermes_platform_kit.peers import named_in

__all__ = ["PLACEHOLDER", "Sender", "Shown"]

log = logging.getLogger(f"hermes.{__name__}")
PLACEHOLDER = "…"
_PATIENCE = 300.0  # seconds that a service may take for one message; files may be large
_HOUR, _MINUTE = 3600.0, 60.0


class _Replaced(Exception):
    """Another sender has the row by now."""


class Shown(Protocol):
    """An answer that is shown while it is written."""

    async def close(self) -> None:
        """Change nothing more in its messages, and wait until the last change is over."""


class Sender:
    """Sends for one account until it is stopped. One runs for an account at a time: who holds its lease.

    ``mask`` takes secrets out of errors before they are stored. ``poll`` is how often, in seconds, other processes'
    rows are looked for; those of this one are heard of. ``shown`` are the answers that are shown while being written.
    """

    def __init__(
        self,
        ctx: PluginContext,
        platform: Platform,
        *,
        mask: Callable[[str], str] = str,
        limiter: RateLimiter | None = None,
        clock: Callable[[], float] = time.time,
        poll: float = 1.0,
        side_by_side: int = 32,
    ) -> None:
        self.holder = uuid4().hex
        self.limiter = limiter or RateLimiter(clock)
        self.outbox, self._ctx, self.platform = rows_of(ctx).outbox, ctx, platform
        self._mask = mask
        self._clock, self._poll, self._most = clock, poll, side_by_side
        self._busy: dict[tuple[str, str], asyncio.Task[None]] = {}
        self.shown: dict[str, Shown] = {}
        self._woken = asyncio.Event()
        self._stopping = False
        self._pruned = 0.0

    def wake(self) -> None:
        """Something was put into the outbox, or the service can be reached again."""
        self._woken.set()

    async def run(self) -> None:
        """Send what is due and what comes, until ``stop`` or cancelled: what is being sent then may have arrived."""
        deaf = await self.outbox.subscribe(self.wake)
        try:
            while not self._stopping:
                self._woken.clear()
                wait = await self._look()
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait):  # wait_for could lose a cancellation here
                        await self._woken.wait()
            await self.rest()
        finally:
            deaf()
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
        now = self._clock()
        busy = set(self._busy)  # what is done with these while the rows are read, the rows may not tell yet
        who = self.platform.name, self.platform.account
        try:
            if now - self._pruned > _HOUR:
                await self.outbox.prune_outbox(now - KEPT)
                await rows_of(self._ctx).threads.forget()
                await end_drafts(self._ctx, *who, said("(no answer)"), now - _MINUTE)
                self._pruned = now
            full = len(busy) >= self._most
            rows = [] if full else await self.outbox.due(*who, now, 2 * self._most, holder=self.holder)
            due = await self.outbox.next_due(*who)
        except StoreError as error:
            log.error("the outbox of %s cannot be read: %s", self.platform.name, error)
            return self._poll
        for row in rows:
            chat = row.outgoing.chat
            place = (chat.id, chat.thread)
            free = len(self._busy) < self._most and not self.limiter.left(chat.id)
            if free and place not in busy | self._busy.keys():
                task = self._busy[place] = asyncio.create_task(self._deliver(row), name=f"send:{row.id}")
                task.add_done_callback(partial(self._done, place))
        return max(0.0, min(self._poll, due - now)) if due is not None and due > now else self._poll

    def _done(self, place: tuple[str, str], task: "asyncio.Task[None]") -> None:
        del self._busy[place]
        self._woken.set()

    async def _deliver(self, row: OutboxRow) -> None:
        """Send the pieces of one row, as far as they go now."""
        try:
            if shown := self.shown.pop(row.outgoing.key, None):  # its last edit is over before the final text goes in
                await shown.close()
                [row] = await self.outbox.outbox_of(key=row.outgoing.key)
            if row.outgoing.opens:
                row = await self._opened(row)
            pieces = row.pieces or pieces_of(row.outgoing.message, self.platform)
            if not pieces:
                await self._withdrawn(row)
            while pieces and (rest := await self._piece(row, pieces)):
                row, pieces = rest, rest.pieces
        except _Replaced:
            log.warning("message %s is sent by somebody else", row.outgoing.key)
        except ValueError as error:  # no piece could ever fit
            await self._give_up(row, [row.outgoing.message], str(error))
        except Exception as error:
            log.error("message %s cannot be sent now", row.outgoing.key, exc_info=not isinstance(error, StoreError))
            await asyncio.sleep(self._poll)

    async def _piece(self, before: OutboxRow, pieces: Sequence[Message]) -> OutboxRow | None:
        """Send the next piece; the row as it is for the one after it, or None when there is nothing to do now."""
        now, number = self._clock(), len(before.receipts)
        fresh = named_in(plain_text(pieces[number].parts), peers_of(self._ctx, self.platform.name))
        todo = attempt(before, pieces[number], self.platform, now, fresh=fresh)
        if todo.hopeless:
            await self._give_up(before, pieces, todo.hopeless)
            return None
        row = await self._begun(before, pieces, number + 1 if todo.repeated else before.repeated)
        before = evolve(before, pieces=pieces, holder=self.holder, state="waiting")
        try:
            if todo.how == "place":
                placed = await self._placed(row, todo)
                row = evolve(row, placeholders=placed, tries=1)
                before = evolve(before, placeholders=placed, tries=0, sent=0.0)
                todo = attempt(row, pieces[number], self.platform, now)
            receipt = await self._asked(row, todo)
        except (_Replaced, StoreError):
            raise
        except NotSent as error:
            await self._again(before, error)
            return None
        except Undeliverable as error:
            return await self._refused(row, before, todo, error)
        except Exception as error:  # noqa: BLE001 - whatever it is, the message may have arrived
            await self._again(row, error, todo.pause)
            return None
        left = row.placeholders[is_text(pieces[number]) :]
        receipts, left = (*row.receipts, receipt), await self._cleared(row, left, pieces[number + 1 :])
        await self._surely(partial(self.outbox.mark_sent, row, self.holder, receipts, left))
        self.limiter.went_well(row.id)
        if len(receipts) == len(pieces):
            return None
        return evolve(row, state="waiting", receipts=receipts, placeholders=left, tries=0, sent=0.0)

    async def _opened(self, row: OutboxRow) -> OutboxRow:
        """The row, in a thread of its own where the service makes one; asked for once, whatever dies.

        Where it cannot be had the message goes to the chat. Raises _Replaced.
        """
        threads, name = rows_of(self._ctx).threads, row.outgoing.opens
        taken = await threads.taken(row)
        if taken is None:
            raise _Replaced
        if taken.outgoing.chat.thread or Feature.THREADS not in self.platform.features:
            return taken
        try:
            async with asyncio.timeout(_PATIENCE):
                made = await self.platform.make_thread(taken.outgoing.chat, name)
        except Exception as error:  # noqa: BLE001 - of a platform, which may have none in this chat
            log.info("no thread %r on %s: %s", name, self.platform.name, self._told(error))
            return taken
        return await threads.opened(taken, made.thread) if made.thread else taken

    async def _begun(self, row: OutboxRow, pieces: Sequence[Message], repeated: int) -> OutboxRow:
        """The row, stored as being sent. Raises _Replaced."""
        now = self._clock()
        if not await self.outbox.mark_sending(row, self.holder, pieces, repeated=repeated, now=now):
            raise _Replaced
        row = evolve(row, state="sending", holder=self.holder, pieces=pieces, repeated=repeated)
        return evolve(row, tries=row.tries + 1, sent=row.sent or now)

    async def _placed(self, row: OutboxRow, todo: Attempt) -> Sequence[str]:
        """Send the placeholder that a piece is edited into, and store its id; empty where the service gave none."""
        async with asyncio.timeout(_PATIENCE):
            sent = await self.platform.send(todo.chat, said(PLACEHOLDER), todo.key)
        placed = (sent.message_id if sent else "",)
        await self._surely(partial(self.outbox.mark_placeholder, row.id, self.holder, placed))
        return placed

    async def _asked(self, row: OutboxRow, todo: Attempt) -> str:
        """The receipt of the service: an id, or empty where it gave none."""
        async with asyncio.timeout(_PATIENCE):
            if todo.how == "edit":
                await self.platform.edit(Sent(chat=todo.chat.id, message_id=row.placeholders[0]), todo.message)
                return row.placeholders[0]
            sent = await self.platform.send(todo.chat, todo.message, todo.key)
            return sent.message_id if sent else ""

    async def _cleared(self, row: OutboxRow, left: Sequence[str], rest: Sequence[Message]) -> Sequence[str]:
        """The placeholders that are still needed; what no piece goes into any more is deleted, or says nothing."""
        if any(map(is_text, rest)):
            return left
        for message_id in filter(None, left):
            with suppress(Exception):  # it says what it said; the answer is whole all the same
                await self._taken_away(row, message_id)
        return ()

    async def _withdrawn(self, row: OutboxRow) -> None:
        """Take away what was shown of a message that says nothing in the end; later, while the service fails."""
        for message_id in filter(None, row.placeholders):
            try:
                await self._taken_away(row, message_id)
            except Undeliverable:
                continue
            except Exception as error:  # noqa: BLE001 - whatever it is, it is tried again
                if self._clock() - row.created > GIVEN_UP:
                    continue
                said_so = error if isinstance(error, NotSent) else NotSent(self._told(error))
                wait = self.limiter.backoff(row.id) if said_so.retry_after is None else said_so.retry_after
                self.limiter.pause(row.outgoing.chat.id, wait, everywhere=said_so.everywhere)
                return
        await self.outbox.abandon(row.id, "It says nothing.")
        self.limiter.went_well(row.id)

    async def _taken_away(self, row: OutboxRow, message_id: str) -> None:
        """Delete a message, or make it say nothing where that cannot be. Raises what the service raises."""
        sent = Sent(chat=row.outgoing.chat.id, message_id=message_id)
        async with asyncio.timeout(_PATIENCE):
            if Feature.DELETE in self.platform.features:
                await self.platform.delete(sent)
            else:
                await self.platform.edit(sent, said(PLACEHOLDER))

    async def _again(self, row: OutboxRow, error: Exception, least: float = 0.0) -> None:
        """Put it back for later. A chat that was told to wait waits, and no other one."""
        asked = error.retry_after if isinstance(error, NotSent) else None
        wait = least + (self.limiter.backoff(row.id) if asked is None else max(asked, 0.0))
        if isinstance(error, NotSent) and asked is not None:
            self.limiter.pause(row.outgoing.chat.id, wait, everywhere=error.everywhere)
        log.info("message %s is sent again in %.0f s: %s", row.outgoing.key, wait, self._told(error))
        due = self._clock() + wait
        await self._surely(partial(self.outbox.mark_again, row, self.holder, due, self._told(error)))

    async def _refused(
        self, row: OutboxRow, before: OutboxRow, todo: Attempt, error: Undeliverable
    ) -> OutboxRow | None:
        """The service says it never will. An edit is sent instead, a file is told of in words; else that is the end."""
        number, pieces = len(row.receipts), list(row.pieces)
        if todo.how == "edit":
            unsure = row.tries > 1  # an earlier edit may have gone in: what is sent now may be there already
            before = evolve(before, placeholders=("", *row.placeholders[1:]), tries=int(unsure), sent=float(unsure))
        elif not is_text(pieces[number]):
            words, why = _words(pieces[number]), f"({_file(pieces[number])} could not be sent: {self._told(error)})"
            pieces[number] = said(f"{why}\n\n{words}" if words else why)
            before = evolve(before, pieces=pieces, tries=0, sent=0.0)
        elif row.outgoing.chat.thread and await rows_of(self._ctx).threads.lost(row):
            self.wake()
            return None
        else:
            await self._give_up(evolve(row, tries=before.tries), pieces, self._told(error), dead=True)
            return None
        await self._surely(partial(self.outbox.mark_again, before, self.holder, 0.0, self._told(error)))
        return before

    async def _give_up(self, row: OutboxRow, pieces: Sequence[Message], why: str, *, dead: bool = False) -> None:
        tries = row.tries
        if row.state != "sending" or row.holder != self.holder:
            row = evolve(await self._begun(row, pieces, row.repeated), tries=tries)
        await self._surely(partial(self.outbox.mark_failed, row, self.holder, why, dead=dead))
        self.limiter.went_well(row.id)
        if dead:
            with suppress(HermesError):  # it is told with the next one that is given up
                await put_out(self._ctx, row.outgoing.platform, row.outgoing.chat.id, why)
        chat = row.outgoing.chat.id
        log.warning("message %s to %s %s is given up: %s", row.outgoing.key, self.platform.name, chat, why)

    async def _surely(self, mark: Callable[[], Awaitable[bool]]) -> None:
        """Write down what happened, however long the store cannot be reached. Raises _Replaced."""
        while True:
            try:
                if await mark():
                    return
            except StoreError as error:
                log.error("what was sent on %s cannot be written down yet: %s", self.platform.name, error)
                await asyncio.sleep(self._poll)
            else:
                raise _Replaced

    def _told(self, error: Exception) -> str:
        return self._mask(str(error) or type(error).__name__)[:500]


def _words(piece: Message) -> str:
    return next((part.words for part in piece.parts if isinstance(part, Blob)), "")


def _file(piece: Message) -> str:
    return next((part.name for part in piece.parts if isinstance(part, Blob) and part.name), "A file")
