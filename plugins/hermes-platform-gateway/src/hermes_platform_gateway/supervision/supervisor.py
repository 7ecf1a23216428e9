"""Work in the background that is kept up: begun again when it falls, held by one process at a time, and told of."""

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Literal

from hermes_core.errors import HermesError, UserError
from hermes_core.host import CLOSE
from hermes_platform_gateway.rows.values import AccountLease

if TYPE_CHECKING:
    from hermes_platform_gateway.rows.accounts import Accounts

__all__ = ["CLOSE", "State", "Supervisor"]

log = logging.getLogger(f"hermes.{__name__}")
State = Literal["connecting", "connected", "running", "standby", "waiting", "parked", "done"]
_STABLE = 60.0  # seconds after which it ran well, and the next pause is a short one again
_BEAT = 5.0  # seconds between two looks at the lease
_LOOK = 1.0  # the same while another process has it


class Supervisor:
    """Keeps one piece of work up: a ``kind`` (the platform's name, or ``service``) and which one of it.

    ``pauses`` are the seconds before the second try, and at most; ``fell`` is told of an error that is nobody's words.
    """

    def __init__(
        self,
        kind: str,
        name: str,
        accounts: "Accounts",
        *,
        pauses: tuple[float, float],
        fell: Callable[[BaseException], None] = lambda _: None,
    ) -> None:
        self.kind, self.name = kind, name
        self.lease = name  # what it is held under
        self.state: State = "connecting"
        self.error = ""
        self.since = time.time()
        self._accounts, self._pauses, self._fell = accounts, pauses, fell
        self._held: AccountLease | None = None
        self._again = asyncio.Event()
        self._resting = False

    def __str__(self) -> str:
        """How it is, in a line."""
        return f"{self.kind} {self.name}".strip() + f": {self.state}" + (f" ({self.error})" if self.error else "")

    def resume(self) -> bool:
        """Try again at once what is parked or waits; False when there is nothing to try."""
        if self.state not in ("parked", "waiting"):
            return False
        self._again.set()
        return True

    def rest(self) -> None:
        """Do not begin again once the work ends."""
        self._resting = True

    async def keep(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do the work until it returns, or this is cancelled; again whenever it raises.

        An error that says how long to wait (``retry_after``) is waited out as it says; else the pauses grow.
        """
        first, cap = self._pauses
        pause = first
        while not self._resting:
            began = time.monotonic()
            try:
                try:
                    await work()
                finally:
                    await self.release()
                break
            except UserError as error:  # only a person can mend it
                await self.tell("parked", str(error))
                await self._again.wait()
            except Exception as error:
                if not isinstance(error, HermesError):
                    log.exception("%s %s fell", self.kind, self.name)
                    self._fell(error)
                if time.monotonic() - began > _STABLE:
                    pause = first
                asked: float | None = getattr(error, "retry_after", None)
                wait = pause * random.uniform(0.9, 1.0) if asked is None else asked  # noqa: S311 - not all at once
                await self.tell("waiting", f"{str(error) or type(error).__name__} Tried again in {wait:.0f} s.")
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await self._again.wait()
                pause = pause if asked is not None else min(cap, pause * 2)
            self._again.clear()

    async def tell(self, state: State, error: str = "") -> None:
        """Write down how it stands, for people and for other processes."""
        if (state, error) != (self.state, self.error):
            log.log(logging.WARNING if error else logging.INFO, "%s %s is %s. %s", self.kind, self.name, state, error)
        self.state, self.error, self.since = state, error, time.time()
        if state == "standby":
            return
        with contextlib.suppress(HermesError):  # a store that cannot be written says so itself, in other places
            if await self.lead() and self._held:
                await self._accounts.renew(self._held, state, error)

    # --- the lease ------------------------------------------------------------------------------------------------

    async def lead(self) -> bool:
        """Take the lease, so that no other process has it; whether it is ours."""
        if self._held is None or self._held.account != self.lease:
            await self.release()
            self._held = await self._accounts.lease(self.kind, self.lease)
        return self._held is not None

    async def led(self, why: str) -> None:
        """Wait until the lease is ours; ``why`` says what it waits for."""
        while not await self.lead():
            await self.tell("standby", why)
            await asyncio.sleep(_LOOK)

    async def beat(self, look: Callable[[], Awaitable[None]] | None = None) -> None:
        """Keep the lease, and ``look`` each time, until cancelled. Raises StoreError when another has taken it."""
        while True:
            if self._held:
                await self._accounts.renew(self._held)
            if look:
                await look()
            await asyncio.sleep(_BEAT)

    async def release(self) -> None:
        """Let go of the lease, so that another takes it at once."""
        if self._held is not None:
            with contextlib.suppress(HermesError):  # else it is still ours: forgotten, it would keep ourselves out
                await self._accounts.release(self._held)
                self._held = None
