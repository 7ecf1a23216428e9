"""Slow mode: so many seconds between two messages of one person in a chat, by setting or by an admin."""

from collections.abc import Callable

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Envelope
from hermes_platform_gateway.config import gateway_settings

__all__ = ["SlowMode", "slow_down"]

_DOCUMENT = "slow"
_LONGEST = 86_400.0
_FRESH = 5.0  # seconds for which what admins said is not read again
_MOST = 10_000  # who wrote last where, at most
_CHATS = 1_000  # in which an admin said something


class SlowMode:
    """Who wrote last where. An admin's word for a chat counts for more than the settings."""

    def __init__(self, ctx: PluginContext, clock: Callable[[], float]) -> None:
        self._ctx, self._clock = ctx, clock
        self._wrote: dict[tuple[str, str], float] = {}
        self._said: dict[str, float] = {}
        self._read = float("-inf")

    async def next(self, envelope: Envelope, person: str) -> tuple[float, float]:
        """Seconds until a person may write in a chat, and how many there are between two messages; 0: now.

        Who may has written by that.
        """
        chat, now = f"{envelope.platform}:{envelope.chat}", self._clock()
        seconds = await self._seconds(envelope.platform, chat)
        if not seconds:
            return 0.0, 0.0
        last = self._wrote.pop((chat, person), float("-inf"))
        left = max(0.0, last + seconds - now)
        self._wrote[chat, person] = last if left else now
        if len(self._wrote) > _MOST:
            del self._wrote[next(iter(self._wrote))]
        return left, seconds

    async def _seconds(self, platform: str, chat: str) -> float:
        if self._clock() - self._read > _FRESH:
            self._said, self._read = await _said(self._ctx), self._clock()
        return self._said.get(chat, _set(self._ctx, platform, chat))

    def forget(self) -> None:
        """Somebody said something: read it before the next message."""
        self._read = float("-inf")


async def slow_down(ctx: PluginContext, envelope: Envelope, words: str) -> str:
    """``/slow``: say how slow a chat is, or make it so. Raises UserError."""
    platform, chat = envelope.platform, f"{envelope.platform}:{envelope.chat}"
    if not words:
        return _told((await _said(ctx)).get(chat, _set(ctx, platform, chat)))
    if words not in ("off", "default") and not words.isdecimal():
        raise UserError("Write /slow SECONDS, /slow off, or /slow default for what the settings say.")
    seconds = float(words) if words.isdecimal() else 0.0
    if seconds > _LONGEST:
        raise UserError(f"{_LONGEST:g} seconds are the most, which is a day.")

    def edit(before: object) -> dict[str, float]:
        rest = {name: value for name, value in _read(before).items() if name != chat}
        if words != "default" and len(rest) >= _CHATS:
            raise UserError(f"{_CHATS} chats have a slow mode of their own already.", hint="/slow default ends one.")
        return rest if words == "default" else {**rest, chat: seconds}

    await ctx.documents.change(_DOCUMENT, edit)
    return _told((await _said(ctx)).get(chat, _set(ctx, platform, chat)))


async def _said(ctx: PluginContext) -> dict[str, float]:
    found = await ctx.documents.get(_DOCUMENT)
    return _read(found.value if found else None)


def _read(value: object) -> dict[str, float]:
    rows = value.items() if isinstance(value, dict) else ()
    return {str(chat): float(seconds) for chat, seconds in rows if isinstance(seconds, int | float)}


def _set(ctx: PluginContext, platform: str, chat: str) -> float:
    slow = gateway_settings(ctx).limits.slow
    return slow.get(chat, slow.get(platform, 0.0))


def _told(seconds: float) -> str:
    if not seconds:
        return "Slow mode is off here."
    return f"Slow mode is on here: one message of a person every {seconds:g} seconds. Admins are free of it."
