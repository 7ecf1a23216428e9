"""Who is called when something in the store changed, whichever thread that happened in."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial

__all__ = ["Bells"]


class Bells:
    """Bells with names. Each rings in the event loop in which it was hung up."""

    def __init__(self) -> None:
        self._hung: list[tuple[str, asyncio.AbstractEventLoop, Callable[[], None]]] = []

    def hang(self, name: str, ring: Callable[[], None]) -> Callable[[], None]:
        """Call ``ring`` whenever the name is said; what takes the bell down again."""
        bell = (name, asyncio.get_running_loop(), ring)
        self._hung.append(bell)
        return partial(self._take_down, bell)

    def ring(self, *names: str) -> None:
        """Say these names; without one, all of them."""
        for name, loop, ring in tuple(self._hung):
            if not names or name in names:
                with suppress(RuntimeError):  # its loop is closed
                    loop.call_soon_threadsafe(ring)

    def _take_down(self, bell: tuple[str, asyncio.AbstractEventLoop, Callable[[], None]]) -> None:
        with suppress(ValueError):
            self._hung.remove(bell)
