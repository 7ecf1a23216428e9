"""Putting messages into an outbox, and sending them on a clock of its own."""

import asyncio
import time

from gateway_house import rows_of

from hermes_core.types import Chat, Message, Principal
from hermes_platform_gateway.outward.pieces import said
from hermes_platform_gateway.outward.sender import Sender
from hermes_platform_gateway.rows.values import Outgoing


class Clock:
    """Seconds since 1970, moved by hand."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


def outgoing(key: str, text: str | Message, chat: str = "c", **more) -> Outgoing:
    """A message of the account that these tests serve."""
    message = said(text) if isinstance(text, str) else text
    where = Chat(chat, more.pop("thread", ""), more.pop("reply_to", ""))
    return Outgoing(key=key, owner=Principal(), platform="far", account="bot", chat=where, message=message, **more)


async def send_all(store, sender: Sender, clock: Clock, hours: float = 48.0) -> None:
    """Let time pass until nothing waits any more."""
    end = clock.now + hours * 3600
    while clock.now < end:
        wait = await sender.settle()
        if await rows_of(store).outbox.next_due("far", "bot") is None:
            return
        clock.now += max(wait, 0.05)
    raise AssertionError("something still waits after two days")


async def play_turn(live, events, pause: float = 0.004) -> None:
    """Let things happen in a turn, with a little time after each."""
    for event in events:
        await live.event(event)
        await asyncio.sleep(pause)
