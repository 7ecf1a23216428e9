"""Who works on a session: a lease with a heartbeat and a fencing token.

The heartbeat is read from the machine's monotonic clock, which all its processes share: a wall clock set back or
forward changes nothing, and after a reboot the old beat lies in the future and counts as dead. On a server, which
many machines use, it is read from the server's clock. A holder whose process is gone is dead at once, where process
ids can be compared. A holder that was replaced by mistake does no harm: its token is stale, and every write asks for
the token.
"""

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from hermes_core.database import Transaction
from hermes_core.errors import StoreError, UserError
from hermes_core.store.killpoints import die_at
from hermes_core.types import Message, Principal, Usage
from hermes_core.values import frozen

GONE = -1e12  # a beat that no clock has shown
LIFE = 60.0  # seconds without a beat before a holder is taken for dead


class Busy(UserError):
    """Somebody else works on the session; ``holder`` says who."""

    def __init__(self, session_id: str, holder: str) -> None:
        super().__init__(
            f"Session {session_id} is busy: {holder} is working on it.",
            hint="Wait until it is done, or start a new session.",
        )
        self.holder = holder


class StaleLease(StoreError):
    """The turn was taken over by somebody else; nothing was written."""


@frozen(kw_only=True)
class Turn:
    """A turn that was opened, with the token that lets its holder write. ``asker`` spends in it; None: its owner."""

    id: str
    session_id: str
    holder: str
    fence: int
    asker: Principal | None = None


@frozen(kw_only=True)
class Resumed:
    """A turn taken over from a holder that died: what is stored of it. ``calls`` have no result: id -> how far."""

    turn: Turn
    history: Sequence[Message]
    calls: Mapping[str, str]
    usage: Usage
    provider: str
    model: str
    resumes: int  # how often it was taken over before
    trace: str = ""


def check_free(tx: Transaction, session_id: str, left: int = 0) -> int:
    """Return the session's last token, if nobody works on it. Raises Busy when a live holder does.

    ``left`` is the token of a turn that the caller ended, but could not close.
    """
    row = tx.row("lease_get", session_id=session_id)
    fence = int(row["fence"]) if row else 0
    if fence != left and alive(tx, row):
        raise Busy(session_id, row["holder"])
    return fence


def take(tx: Transaction, session_id: str, holder: str, left: int = 0) -> int:
    """Take the lease on a session; the new token. Raises Busy when a live holder has it."""
    fence = check_free(tx, session_id, left) + 1
    tx.change("lease_take", session_id=session_id, fence=fence, holder=holder, **mark(tx))
    die_at("leased")
    return fence


def hold(tx: Transaction, turn: Turn) -> None:
    """Prove the token and extend the lease. Raises StaleLease."""
    if not tx.change("lease_beat", session_id=turn.session_id, fence=turn.fence, beat=_now(tx)).rowcount:
        raise StaleLease(
            f"Turn {turn.id} no longer holds session {turn.session_id}; nothing was written.",
            hint="Another process took the session over. Send the message again.",
        )


def mark(tx: Transaction) -> dict[str, str | int | float]:
    """Return what a lease says of a holder that is this process, now."""
    from hermes_atomic.processes import place

    return {"place": place(), "pid": os.getpid(), "beat": _now(tx)}


def alive(tx: Transaction, row: Any) -> bool:
    """Tell whether a lease has a holder, and that holder is still there. ``row`` has its columns, or is None."""
    if row is None or not row["holder"]:
        return False
    from hermes_atomic.processes import is_running, place  # most starts ask of nobody

    silent = _now(tx) - row["beat"]
    if tx.server:
        silent = abs(silent)  # a server's clock may be set back a little while a holder lives
    return 0 <= silent <= LIFE and (row["place"] != place() or is_running(row["pid"]))


def _now(tx: Transaction) -> float:
    return tx.clock() or time.monotonic()
