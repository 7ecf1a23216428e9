"""A clock that a test turns, for what depends on the day or on how long ago something was."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import time_machine

__all__ = ["Clock", "turned"]


class Clock:
    """What the time and the day are in a test: as they are, and turned on. How long things take is as it is."""

    def __init__(self, traveller: "time_machine.Traveller") -> None:
        self._traveller = traveller

    def turn(self, *, seconds: float = 0.0, hours: float = 0.0, days: float = 0.0) -> None:
        """Turn it on, or back where a number is below zero."""
        self._traveller.shift(timedelta(days=days, hours=hours, seconds=seconds))


@contextmanager
def turned() -> Iterator[Clock]:
    """Give a clock that shows the time; it is put back at the end. Fails where time-machine is not installed."""
    try:
        import time_machine
    except ImportError:
        pytest.fail("The fixture clock stands on time-machine: pip install time-machine")
    from time import time

    with time_machine.travel(time(), tick=True) as traveller:
        yield Clock(traveller)
