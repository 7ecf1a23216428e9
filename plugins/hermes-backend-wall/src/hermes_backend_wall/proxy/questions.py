"""Asking whether a host that no rule opens may be reached."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

__all__ = ["NOBODY", "REFUSED", "Ask", "Crossing", "Questions"]

NOBODY = "nobody can be asked"
REFUSED = "it was not allowed"


class Crossing(NamedTuple):
    """What would be crossed: a host in ASCII and lower case, its port, ``https`` or ``http``."""

    host: str
    port: int
    scheme: str


Ask = Callable[[Crossing], Awaitable[bool | None]]  # None: nobody is there


class Questions:
    """Equal questions at one time are one; whoever asks remembers the answers."""

    def __init__(self, ask: Ask | None, seconds: float, most: int) -> None:
        self._ask = ask
        self._seconds = seconds
        self._most = most
        self._open: dict[Crossing, asyncio.Task[str]] = {}

    async def refused(self, crossing: Crossing) -> str:
        """Why it stays closed; empty where a person opened it."""
        if self._ask is None:
            return NOBODY
        task = self._open.get(crossing)
        if task is None:
            if len(self._open) >= self._most:
                return "too many questions are open"
            task = asyncio.create_task(self._answer(self._ask, crossing))
            self._open[crossing] = task
            task.add_done_callback(lambda _: self._open.pop(crossing, None))
        return await asyncio.shield(task)

    async def _answer(self, ask: Ask, crossing: Crossing) -> str:
        try:
            async with asyncio.timeout(self._seconds):
                answer = await ask(crossing)
                return "" if answer is True else NOBODY if answer is None else REFUSED
        except TimeoutError:
            return f"nobody answered in {self._seconds:g} seconds"
        except Exception as error:  # noqa: BLE001 - what cannot be asked is not allowed, and the reason is told
            return f"the question failed ({type(error).__name__})"

    async def close(self) -> None:
        """Withdraw what is open."""
        tasks = list(self._open.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
