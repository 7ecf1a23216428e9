"""The rows of one turn: opened while its first request is under way, kept alive, closed."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine

from attrs import evolve

from hermes_core import trace
from hermes_core.agent.session_state import OpenSessions, SessionState
from hermes_core.kinds import ModelRoute
from hermes_core.store.killpoints import die_at
from hermes_core.types import Envelope, Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.database import Prepared
    from hermes_core.store.leases import Turn
    from hermes_core.store.store import Store

__all__ = ["TurnRows"]

_BEAT = 10.0  # seconds between heartbeats of the session's lease
_LOOKS, _PAUSE = 6, 0.005  # how often, after how many seconds each, a first request may be found not to have left yet


class TurnRows:
    """The store and the row of one turn, once they are there."""

    def __init__(self, sessions: OpenSessions, state: SessionState) -> None:
        self._sessions, self._state, self._leaves = sessions, state, sessions.leaves
        self._fence, self._storing = 0, list[asyncio.Task[object]]()
        self._needed = asyncio.Event()

    def begin(self, opening: "Coroutine[None, None, tuple[Store, Turn]]") -> None:
        """Open the rows beside whatever comes next, and keep the lease from now on."""
        self._opening = asyncio.create_task(self._beside(opening))
        self._beating = asyncio.create_task(self._beat())

    def beside(self, storing: Coroutine[None, None, object]) -> None:
        """Write more beside whatever comes next, as no request has an effect: who needs rows waits for it."""
        self._storing.append(asyncio.create_task(storing))

    async def _beside(self, opening: "Coroutine[None, None, tuple[Store, Turn]]") -> "tuple[Store, Turn]":
        """Open them; where there is no store yet, in the time that the model takes, unless they are needed before.

        A request is put together and sent in a few steps of the loop, of which one may be long, as it imports.
        """
        looks = 0 if self._sessions.runtime.has_store else _LOOKS
        for _ in range(looks):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._needed.wait(), _PAUSE)
                break
        opened = await opening
        if looks:  # what masks is imported now: the end of each turn is logged
            self._sessions.runtime.settings.masks.data({"session": self._state.session.id})
        return opened

    @property
    def there(self) -> bool:
        """Whether they are written."""
        return all(t.done() and not t.cancelled() and t.exception() is None for t in (self._opening, *self._storing))

    async def get(self) -> "tuple[Store, Turn]":
        """Return the store and this turn's row. An interrupted turn still gets its row: what was said is kept.

        Raises once what writing beside raised.
        """
        await self.settle()
        while self._storing:
            self._storing.pop().result()
        return self._opening.result()

    async def open(
        self,
        turn_id: str,
        route: ModelRoute,
        message: Message,
        original: Envelope | None,
        waited: int,
        patient: bool,
        stored: Callable[[], Awaitable[None]] | None,
    ) -> "tuple[Store, Turn]":
        """Write the session and a new turn with what was said."""
        store, state = await self._sessions.runtime.store(), self._state
        await self._sessions.keep(state, store)
        turn = await store.journal.open_turn(
            state.session.id,
            message,
            turn_id=turn_id,
            holder=self._sessions.holder,
            envelope=original,
            provider=route.name,
            model=route.model,
            left=state.left,
            waited=waited,
            patient=patient,
            trace=trace.current(),
        )
        die_at("journaled")
        opened = await self.opened(store, turn)
        if stored:
            await stored()
        return opened

    async def opened(self, store: "Store", turn: "Turn") -> "tuple[Store, Turn]":
        """Take a turn that is open already; who speaks in it spends."""
        turn = evolve(turn, asker=self._state.session.asker)
        self._fence, self._state.left = turn.fence, 0
        if self._sessions.leaves > self._leaves:  # who was told to leave meanwhile has left this one, too
            await store.journal.leave(turn.holder)
        return store, turn

    async def settle(self) -> None:
        """Wait for the end of what is written beside."""
        self._needed.set()
        if not self._opening.done() or self._storing:
            await asyncio.wait([self._opening, *self._storing])

    async def close(self, state: str, error: str, also: "Prepared[object] | None" = None) -> None:
        """Write down that the turn ended, and ``also`` what somebody writes of it. Raises what either raises."""
        try:
            store, turn = await self.get()
            await store.journal.close_turn(turn, state=state, error=error, also=also)
        except BaseException:
            self._state.left = self._fence or self._state.left
            raise

    def rest(self) -> None:
        """Stop the heart: it need not beat any more."""
        self._beating.cancel()

    async def _beat(self) -> None:
        """Say again and again that this turn's holder lives, so that nobody takes the session over."""
        with contextlib.suppress(Exception):  # whoever lost the session is told so by the next write
            await asyncio.wait([self._opening])
            store, turn = self._opening.result()
            while True:
                await asyncio.sleep(_BEAT)
                await store.journal.beat(turn)
