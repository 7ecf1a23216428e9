"""Where a test may end the process, as an out-of-memory killer would: SIGKILL at a named point of a turn.

``HERMES_DIE_AT=POINT``, or ``POINT:N`` for the N-th time it is reached, is heard only with ``HERMES_TESTING=1``.
"""

import itertools
import os
import signal
from collections.abc import Iterator
from functools import cache

from hermes_core.errors import UnknownName

POINTS = {
    "received": "a message that waits is stored; nobody was told",
    "migrating": "the tables are made or changed; not committed",
    "leased": "the session is taken for a turn; not committed",
    "journaled": "the message is stored; nobody was told",
    "prompted": "a request is put together; it did not leave",
    "requested": "the provider began to reply; nothing was read",
    "mid_stream": "a piece of the reply was read",
    "replied": "the whole reply is stored",
    "asked": "a question for a person's yes is stored; nobody was asked",
    "approved": "the person's answer is stored; nobody acted on it",
    "tool_started": "a call is stored as started; it did nothing yet",
    "tool_done": "a call did what it does; its result is not stored",
    "tool_stored": "the result of a call is stored",
    "sent_on": "what sends a model on is stored, as its turn may not end; it was not asked",
    "answered": "the answer is stored; the turn is not closed",
    "storing": "a plugin is about to write into tables of its own",
    "stored": "what a plugin wrote into tables of its own is committed; nobody acted on it",
    "compacting": "a compacted context is written; not committed",
    "compacted": "the compacted context is stored; the request did not leave",
}


def die_at(point: str) -> None:
    """End the process here when a test wants it so. Raises UserError when the wanted point cannot be reached."""
    fate = _fate()
    if fate and fate[0] == point and next(fate[1]):
        os.kill(os.getpid(), signal.SIGKILL)


@cache
def _fate() -> tuple[str, Iterator[bool]] | None:
    """Return the wanted point, and for each time it is reached whether that is the one."""
    wanted = os.environ.get("HERMES_DIE_AT")
    if not wanted or os.environ.get("HERMES_TESTING") != "1":
        return None
    point, _, number = wanted.partition(":")
    if point not in POINTS or not (number or "1").isdecimal():
        raise UnknownName("kill point", wanted, POINTS, hint="Write HERMES_DIE_AT=POINT or HERMES_DIE_AT=POINT:N.")
    return point, itertools.chain(itertools.repeat(False, int(number or "1") - 1), itertools.repeat(True))
