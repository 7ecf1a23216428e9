"""A microphone that stays open while something is said aloud, and speech that is told from what it hears of that."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress

from hermes_core.errors import HermesError, UserError
from hermes_tool_speech.config import Config
from hermes_tool_speech.detector import BLOCK, Detector, level

__all__ = ["Ears", "noticed"]

_KEPT = 2_000  # blocks that a microphone is ahead of who listens: a minute
_LEARN = 15  # blocks in which the loudness of what is played is learned, before speech can be told from it
_LATE, _LOUD = 10, 7  # so many of the last blocks are speech: somebody speaks
_FADES = 16  # blocks behind the end of a sound in which the microphone may still hear it: half a second
_ABOVE = 2.5  # so much louder than what the microphone hears of the loudspeaker


class Ears:
    """An open microphone, whose blocks may be taken by one after another."""

    def __init__(self, blocks: AsyncGenerator[bytes, None]) -> None:
        self._blocks, self._come = blocks, asyncio.Queue[bytes | None](maxsize=_KEPT)
        self._error: HermesError | None = None
        self.closed = False
        self._pump = asyncio.ensure_future(self._take())

    async def _take(self) -> None:
        try:
            async for block in self._blocks:
                if self._come.full():  # nobody listens; what is old is worth least
                    self._come.get_nowait()
                self._come.put_nowait(block)
        except HermesError as error:
            self._error = error
        finally:
            with suppress(Exception):
                await self._blocks.aclose()
            if self._come.full():
                self._come.get_nowait()
            self._come.put_nowait(None)

    async def blocks(self, first: Sequence[bytes] = ()) -> AsyncGenerator[bytes, None]:
        """What comes from now on, behind what was taken already. Raises UserError."""
        for block in first:
            yield block
        while (taken := await self._come.get()) is not None:
            yield taken
        self._come.put_nowait(None)
        if self._error:
            raise self._error

    def forget(self) -> None:
        """Leave out what came until now."""
        while not self._come.empty():
            if self._come.get_nowait() is None:
                self._come.put_nowait(None)
                return

    async def close(self) -> None:
        """Close the microphone."""
        self.closed = True
        self._pump.cancel()
        await asyncio.wait({self._pump})


async def noticed(ears: Ears, config: Config, playing: Callable[[], bool] = lambda: True) -> Sequence[bytes]:
    """Wait until somebody speaks above what is ``playing``; the blocks of it. It never ends where nobody does.

    What the microphone hears of the loudspeaker is a voice, too: speech is a voice that is clearly louder. Where
    nothing is played, as between two sentences, any voice is speech once the last of the sound has faded.
    """
    kept, before = deque[tuple[bytes, float, bool]](maxlen=_LATE), deque[float](maxlen=int(3 / BLOCK))
    detector, pause = Detector(config), 0
    with suppress(UserError):  # a microphone that ends is told of by who listens next
        async for block in ears.blocks():
            voice = detector.heard(block)
            if playing():
                if pause >= _FADES:  # what was heard in a pause says nothing of the loudspeaker
                    kept.clear()
                pause = 0
                if len(kept) == _LATE:  # noise is no loudspeaker
                    before.append(kept[0][1] if kept[0][2] else 0.0)
            else:
                pause += 1
            kept.append((block, level(block), voice))
            if pause < _FADES and len(before) < _LEARN:
                continue
            loud = sorted(before)[len(before) * 9 // 10] if pause < _FADES else 0.0
            least = max(float(config.threshold), loud * _ABOVE)
            if sum(voice and loud >= least for _, loud, voice in kept) >= _LOUD:
                return [one for one, _, _ in kept]
    await asyncio.Event().wait()
    raise AssertionError
