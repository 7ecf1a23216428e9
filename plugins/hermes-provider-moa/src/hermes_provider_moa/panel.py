"""The models of a mixture, each asked by a kernel beside this one that has it for its model.

So each has its own keys, tries and pauses, as the person set them. The kernels are opened when they are first needed.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from hermes_core.errors import HermesError, UserError
from hermes_core.types import Request, Response

if TYPE_CHECKING:
    from hermes_core.brokers import LlmBroker
    from hermes_core.control import SettingsBroker

__all__ = ["Panel", "reason_of", "split"]

TASK = "moa"  # under which each call is booked
LONGEST = 3600.0  # seconds that one may take; references have their own bound


def split(words: str) -> tuple[str, str]:
    """Take ``PROVIDER:MODEL`` apart. Raises UserError for what is none, and for a mixture within a mixture."""
    provider, colon, model = (part.strip() for part in words.partition(":"))
    if not (provider and colon and model):
        raise UserError(
            f"{words!r} names no model.", hint="Write PROVIDER:MODEL, as openrouter:deepseek/deepseek-chat."
        )
    if provider == "moa":
        raise UserError("A mixture cannot ask a mixture.", hint="Name other models in providers.moa.")
    return provider, model


def reason_of(error: BaseException, seconds: float) -> str:
    """Say on one line why a reference is passed over."""
    if isinstance(error, TimeoutError):
        return f"it said nothing within {seconds:g} s"
    return error.text if isinstance(error, HermesError) else type(error).__name__


class Panel:
    """Has models asked. ``settings`` opens the kernels."""

    def __init__(self, settings: "SettingsBroker") -> None:
        self._settings = settings
        self._open: dict[str, LlmBroker] = {}
        self._stack = AsyncExitStack()
        self._lock: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None

    async def ask(self, words: str, request: Request) -> Response:
        """Have one model answer. Raises HermesError."""
        return await (await self._kernel(words)).complete(request, task=TASK)

    async def ask_all(
        self, names: Sequence[str], request: Request, seconds: float
    ) -> list[tuple[str, Response | Exception]]:
        """Have several answer side by side, each within its time: what each said, or why it did not."""

        async def one(words: str) -> Response:
            async with asyncio.timeout(seconds):
                return await self.ask(words, request)

        made: list[tuple[str, Response | Exception]] = []
        for words, said in zip(names, await asyncio.gather(*map(one, names), return_exceptions=True), strict=True):
            if isinstance(said, BaseException) and not isinstance(said, Exception):
                raise said
            made.append((words, said))
        return made

    async def close(self) -> None:
        """Close the kernels; they are opened anew when they are needed again."""
        stack, self._stack, self._open = self._stack, AsyncExitStack(), {}
        await stack.aclose()

    async def _kernel(self, words: str) -> "LlmBroker":
        loop = asyncio.get_running_loop()
        if self._lock is None or self._lock[0] is not loop:
            self._lock = loop, asyncio.Lock()
        async with self._lock[1]:
            if words not in self._open:
                provider, model = split(words)
                # A call beside a conversation has half a minute; whoever answers here is waited for as elsewhere.
                wanted = {"model.provider": provider, "model.default": model, f"auxiliary.{TASK}.timeout": LONGEST}
                trial = await self._stack.enter_async_context(self._settings.trial(wanted, {}))
                self._open[words] = trial.llm
        return self._open[words]
