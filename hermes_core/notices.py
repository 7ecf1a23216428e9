"""One line for the person whose turn it is, from wherever in the turn something is worth saying."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["heard_by", "tell"]

_hearer: ContextVar[Callable[[str], None] | None] = ContextVar("hermes_notices", default=None)


def tell(text: str) -> bool:
    """Say one line; False when nobody hears it, as no turn is under way here."""
    hearer = _hearer.get()
    if hearer is not None:
        hearer(" ".join(text.split()))
    return hearer is not None


@contextmanager
def heard_by(hearer: Callable[[str], None]) -> Iterator[None]:
    """Choose who hears what is said in this block and in the tasks begun in it."""
    token = _hearer.set(hearer)
    try:
        yield
    finally:
        _hearer.reset(token)
