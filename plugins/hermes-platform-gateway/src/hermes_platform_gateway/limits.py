"""What one person may have at a time, over all places: turns, messages that wait, files; and slow mode in a chat.

What is over a limit is not spent on. It is answered once, with when to write again, and from then on in silence until
something of that person is taken again. What was counted goes with the process; what waits is counted in the store.
"""

import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from attrs import Factory

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Blob, Envelope
from hermes_core.values import define
from hermes_platform_gateway.config import gateway_settings
from hermes_platform_gateway.people.access import OWNER, Access
from hermes_platform_gateway.slow import SlowMode

__all__ = ["Limits", "Over", "limits_of", "most_of"]

_HOUR = 3600.0
_NO_LIMIT = 1_000_000
_MB = 1024 * 1024
_COUNTED = 2.0  # seconds for which a count of what waits holds
_AGAIN = 50  # messages of a person that are known when they come again
_PEOPLE = 10_000  # whom something is known of at most


class Over(UserError):
    """Something is over a limit and was not taken. ``text`` is empty where its person was told before."""


def limits_of(ctx: PluginContext) -> "Limits":
    """Give the limits of a kernel, one and the same for all ways in."""
    if "limits" not in ctx.state:
        ctx.state["limits"] = Limits(ctx)
    found: Limits = ctx.state["limits"]
    return found


def most_of(ctx: PluginContext, *, alone: bool) -> Callable[[str], int]:
    """Say how many turns of a person run side by side. Where one process plays ``alone`` a place is left for others."""
    limits, workers = gateway_settings(ctx).limits, int(ctx.host.section("workers").count)

    def most(person: str) -> int:
        share = limits.owner_turns if person == OWNER else limits.turns
        return max(1, min(share or workers, workers - 1)) if alone else share or _NO_LIMIT

    return most


@define
class _Known:
    """What is known of one person: which limits they were told of, files in the last hour, what may wait where.

    ``waits`` is by session and account, and never too low; ``counted`` is when it was last compared with the store.
    ``taken`` are the last messages, which a service may deliver again; ``asks`` are open questions of this process.
    """

    told: set[str] = Factory(set)
    files: deque[tuple[float, int]] = Factory(deque)
    waits: dict[tuple[str, str, str], int] = Factory(dict)
    counted: float = float("-inf")
    asks: set[tuple[str, str]] = Factory(set)
    taken: deque[str] = Factory(lambda: deque(maxlen=_AGAIN))


class Limits:
    """The limits of one gateway. Who a message is from says its ``access``."""

    def __init__(self, ctx: PluginContext, clock: Callable[[], float] = time.monotonic) -> None:
        self._ctx, self._clock = ctx, clock
        self._limits = gateway_settings(ctx).limits
        self.slow = SlowMode(ctx, clock)
        self._known: dict[str, _Known] = {}

    async def check(self, envelope: Envelope, access: Access) -> None:
        """Look whether a message that wants a turn may have one. Raises Over."""
        person, chat = access.principal.person, f"{envelope.platform}:{envelope.chat}"
        known, event = self._of(person), f"{envelope.platform} {envelope.account} {envelope.event_id}"
        if event in known.taken:
            return
        await self._slowly(known, envelope, access)
        if person != OWNER:
            self._files(known, envelope)
            if self._limits.waiting and await self._waiting(known) >= self._limits.waiting:
                self._over(
                    known,
                    "waiting",
                    f"{self._limits.waiting} messages of yours wait for their turn, which is the most here, so this "
                    "one was not taken. Write again when some of them are answered.",
                )
        known.taken.append(event)
        known.told -= {"waiting", "files", f"slow {chat}"}

    def asks(self, person: str, session_id: str, question: str) -> bool:
        """Count a question of a person that is about to be put; False where that is one too many."""
        asked = self._of(person).asks
        if person != OWNER and self._limits.questions and len(asked) >= self._limits.questions:
            return (session_id, question) in asked
        asked.add((session_id, question))
        return True

    def asked(self, person: str, session_id: str, question: str) -> None:
        """Note that a question is over."""
        self._of(person).asks.discard((session_id, question))

    def waits(self, person: str, session_id: str, envelope: Envelope) -> None:
        """Note that a message of a person waits in a session."""
        waits, where = self._of(person).waits, (session_id, envelope.platform, envelope.sender)
        waits[where] = waits.get(where, 0) + 1

    async def _slowly(self, known: _Known, envelope: Envelope, access: Access) -> None:
        if access.role == "admin":
            return
        left, seconds = await self.slow.next(envelope, access.principal.person)
        if left:
            self._over(
                known,
                f"slow {envelope.platform}:{envelope.chat}",
                f"Slow mode: one message every {seconds:g} seconds here, so this one was not taken. Write again in "
                f"{max(1, round(left))} seconds.",
            )

    def _files(self, known: _Known, envelope: Envelope) -> None:
        sizes = [_size(part) for part in envelope.message.parts if isinstance(part, Blob)]
        if not sizes:
            return
        now, sent, limits = self._clock(), known.files, self._limits
        while sent and now - sent[0][0] >= _HOUR:
            sent.popleft()
        many = limits.files and len(sent) + len(sizes) > limits.files
        large = limits.files_mb and sum(sizes) + sum(size for _, size in sent) > limits.files_mb * _MB
        if many or large:
            minutes = round((_HOUR - (now - sent[0][0])) / 60) if sent else 0
            most = f"{limits.files} files" if many else f"{limits.files_mb} MB of files"
            when = f" Send more in {max(1, minutes)} minutes." if minutes else " Send less at a time."
            self._over(known, "files", f"{most} in an hour are the most here, so this message was not taken.{when}")
        sent.extend((now, size) for size in sizes)

    async def _waiting(self, known: _Known) -> int:
        """How many messages of a person wait; counted in the store only where it might be too many."""
        if sum(known.waits.values()) >= self._limits.waiting and self._clock() - known.counted > _COUNTED:
            known.counted = self._clock()
            for where in list(known.waits):
                session_id, platform, sender = where
                rows = await self._ctx.host.turns.waiting(session_id)
                theirs = sum(
                    row.envelope is None or (row.envelope.platform, row.envelope.sender) == (platform, sender)
                    for row in rows
                )
                if theirs:
                    known.waits[where] = theirs
                else:
                    known.waits.pop(where, None)
        return sum(known.waits.values())

    def _over(self, known: _Known, limit: str, words: str) -> None:
        told = limit in known.told
        known.told.add(limit)
        raise Over("" if told else words)

    def _of(self, person: str) -> _Known:
        known = self._known.pop(person, None) or _Known()
        self._known[person] = known  # whoever was here last is forgotten last
        if len(self._known) > _PEOPLE:
            del self._known[next(iter(self._known))]
        return known


def _size(blob: Blob) -> int:
    """The bytes of a file; what cannot be seen is refused where it is kept."""
    if blob.data is not None:
        return len(blob.data)
    try:
        return Path(blob.path).stat().st_size if blob.path else 0
    except OSError:
        return 0
