"""Asking Telegram for updates."""

import asyncio
import logging

from hermes_core.errors import UserError
from hermes_platform_telegram.api import BotApi
from hermes_platform_telegram.failures import Lost, Refused, as_service
from hermes_platform_telegram.inbound import Inbound
from hermes_platform_telegram.updates import ALLOWED

__all__ = ["poll"]

_PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)  # seconds; then whoever opened us is told, and opens us again later
_UNSTORED = 0.5  # seconds between two requests while something is not stored yet


async def poll(api: BotApi, inbound: Inbound, seconds: int, log: logging.Logger) -> None:
    """Ask for updates until cancelled. Plain cuts are mended here. Raises UserError, and HermesError when it lasts.

    What is not stored yet is not confirmed: then Telegram answers at once and with the same again, so we wait for it.
    """
    failures = 0
    while True:
        try:
            await _ask(api, inbound, seconds)
            failures = 0
        except (Refused, Lost) as error:
            pause = _pause(error, failures)
            failures += 1
            log.info("Telegram gave no messages: %s; trying again in %g s.", error, pause)
            await asyncio.sleep(pause)


async def _ask(api: BotApi, inbound: Inbound, seconds: int) -> None:
    pending = inbound.pending
    offset, wait = pending.offset, 0 if pending.undone else seconds
    asked = {"offset": offset, "timeout": wait, "limit": 100, "allowed_updates": list(ALLOWED)}
    updates = await api.call("getUpdates", asked, seconds=wait)
    if not isinstance(updates, list):
        raise Lost("Telegram answered with no list of messages.", maybe=False)
    pending.confirmed(offset)
    for update in updates:
        try:
            inbound.take(update)
        except (KeyError, TypeError, ValueError) as error:
            raise Lost(f"Telegram sent an update without a number ({error!r}).", maybe=False) from error
    if pending.undone:
        await pending.change(_UNSTORED)


def _pause(error: Refused | Lost, failures: int) -> float:
    """How long to wait before asking again. Raises HermesError when it is time to tell."""
    if isinstance(error, Refused) and error.status == 429 and error.retry_after is not None:
        return error.retry_after
    told = as_service(error)
    # Another poller may be our own one before, about to end; so the first conflicts are waited out.
    patient = isinstance(error, Refused) and error.status == 409 and not error.says("webhook")
    if failures >= len(_PAUSES) or (isinstance(told, UserError) and not patient):
        raise told
    return _PAUSES[failures]
