"""Which updates are taken and not yet stored, so that none is confirmed to Telegram before its time.

Telegram confirms by a number: everything below it is forgotten there. So the number that may be told is that of the
first update that is not done, and an update stays with Telegram until all before it are stored here.
"""

import asyncio

__all__ = ["Pending"]


class Pending:
    """Updates by their number."""

    def __init__(self) -> None:
        self._open: dict[int, bool] = {}  # number to whether it is done; done ones stay until Telegram heard of it
        self._waiting: dict[int, asyncio.Event] = {}
        self._changed = asyncio.Event()

    def begin(self, number: int) -> bool:
        """An update came; False when it is known already."""
        if number in self._open:
            return False
        self._open[number] = False
        return True

    def give_up(self, number: int) -> None:
        """It could not be taken: when it comes again, it is new."""
        self._open.pop(number, None)

    def finish(self, number: int) -> None:
        """It is stored, or holds nothing."""
        if number in self._open:
            self._open[number] = True
            self._changed.set()
            if waiting := self._waiting.pop(number, None):
                waiting.set()

    @property
    def undone(self) -> bool:
        """Whether one is not stored yet."""
        return not all(self._open.values())

    @property
    def offset(self) -> int | None:
        """What to tell Telegram: the first number that it must keep. None when there is nothing to tell.

        With nothing to tell none is told: after a quiet week Telegram begins to count anew, perhaps below.
        """
        told = None
        for number in sorted(self._open):
            if not self._open[number]:
                return number if told else None
            told = number + 1
        return told

    def confirmed(self, offset: int | None) -> None:
        """Telegram has heard of everything below; it will not come again."""
        if offset is not None:
            self._open = {n: done for n, done in self._open.items() if n >= offset}

    async def change(self, seconds: float) -> None:
        """Wait until one is done, at most ``seconds``."""
        self._changed.clear()
        try:
            async with asyncio.timeout(seconds):  # wait_for of 3.11 swallows a cancellation that comes with the event
                await self._changed.wait()
        except TimeoutError:
            return

    async def stored(self, number: int, seconds: float) -> bool:
        """Wait until this one is done, at most ``seconds``; whether it is. Then it is forgotten: Telegram hears now."""
        if not self._open.get(number, True):
            waiting = self._waiting.setdefault(number, asyncio.Event())
            try:
                async with asyncio.timeout(seconds):
                    await waiting.wait()
            except TimeoutError:
                return False
        self._open.pop(number, None)
        return True
