"""Who works on a session: a lease with a heartbeat and a fencing token.

The heartbeat is read from the machine's monotonic clock, which all its processes share: a wall clock set back or
forward changes nothing, and after a reboot the old beat lies in the future and counts as dead. A holder whose process
is gone is dead at once, where process ids can be compared. A holder that was replaced by mistake does no harm: its
token is stale, and every write asks for the token.
"""

import os
import time
from functools import cache

from attrs import frozen

from hermes_core.errors import StoreError, UserError
from hermes_core.store.engine import Transaction
from hermes_core.store.processes import is_running

LIFE = 60.0  # seconds without a beat before a holder is taken for dead


class Busy(UserError):
    """Somebody else works on the session; ``holder`` says who."""

    def __init__(self, session_id: str, holder: str) -> None:
        super().__init__(
            f"Session {session_id} is busy: {holder} is working on it.",
            hint="Wait until it is done, or start a new session.",
        )
        self.holder = holder


class Duplicate(StoreError):
    """This incoming message was stored before; nothing was written."""


class StaleLease(StoreError):
    """The turn was taken over by somebody else; nothing was written."""


@frozen(kw_only=True)
class Turn:
    """A turn that was opened, with the token that lets its holder write."""

    id: str
    session_id: str
    holder: str
    fence: int


def check_free(tx: Transaction, session_id: str) -> int:
    """The session's last token, if nobody works on it. Raises Busy when a live holder does."""
    fence, holder, place, pid, beat = tx.row("lease_get", session_id=session_id) or (0, "", "", 0, 0.0)
    if holder and _alive(place, pid, beat):
        raise Busy(session_id, holder)
    return int(fence)


def take(tx: Transaction, session_id: str, holder: str) -> int:
    """Take the lease on a session; the new token. Raises Busy when a live holder has it."""
    fence = check_free(tx, session_id) + 1
    values = {"fence": fence, "holder": holder, "place": _place(), "pid": os.getpid(), "beat": time.monotonic()}
    tx.change("lease_take", session_id=session_id, **values)
    return fence


def hold(tx: Transaction, turn: Turn) -> None:
    """Prove the token and extend the lease. Raises StaleLease."""
    if not tx.change("lease_beat", session_id=turn.session_id, fence=turn.fence, beat=time.monotonic()).rowcount:
        raise StaleLease(
            f"Turn {turn.id} no longer holds session {turn.session_id}; nothing was written.",
            hint="Another process took the session over. Send the message again.",
        )


def _alive(place: str, pid: int, beat: float) -> bool:
    return 0 <= time.monotonic() - beat <= LIFE and (place != _place() or is_running(pid))


@cache
def _place() -> str:
    """Where process ids mean the same: this machine's, or this container's, process table."""
    try:
        return os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - this link leads to no path
    except OSError:
        return os.uname().nodename
