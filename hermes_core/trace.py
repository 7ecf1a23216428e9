"""One id for all that one incoming message leads to: log records, rows, answers, receipts.

It is made where a message is received, stored with it, and current while its turn runs, also in hooks and tools.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["current", "new", "using"]

_current: ContextVar[str] = ContextVar("hermes_trace", default="")


def current() -> str:
    """Return the id of the message whose work this is; empty outside of any."""
    return _current.get()


def new() -> str:
    """Return a fresh id: 16 hex digits."""
    return os.urandom(8).hex()


@contextmanager
def using(trace: str = "") -> Iterator[str]:
    """Make an id current in this block and in the tasks begun in it; without one, that which is, or a new one."""
    trace = trace or current() or new()
    token = _current.set(trace)
    try:
        yield trace
    finally:
        _current.reset(token)
