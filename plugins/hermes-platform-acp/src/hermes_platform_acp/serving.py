"""Serving one editor: from the first line it writes until it goes away."""

import asyncio
import contextlib
import signal
import sys

from hermes_acp_wire.peer import Peer
from hermes_acp_wire.pipes import take_pipes
from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_platform_acp.agent import Agent

__all__ = ["serve"]


async def serve(ctx: PluginContext, *, draft: bool) -> None:
    """Serve whoever started this program, until they go away or end it. Raises UserError where nobody can be served.

    What runs then is left as a death leaves it: it goes on when its session is loaded again, or with ``resume``.
    """
    hint = f"Add it to your editor as an agent: the command is `{ctx.program}`, its argument `acp`."
    if sys.stdin.isatty() or sys.stdout.isatty():
        raise UserError(
            "An editor starts this, and talks to it over pipes; a terminal has nothing to say here.", hint=hint
        )
    try:
        reader, writer = await take_pipes()
    except (OSError, ValueError) as error:
        raise UserError(f"Standard input and output are no pipes: {error}", hint=hint) from None
    agent = Agent(ctx, draft=draft)
    peer = agent.peer = Peer(reader, writer, agent.answer)
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, stop.set)
    serving, stopped = asyncio.create_task(peer.serve()), asyncio.create_task(stop.wait())
    await asyncio.wait({serving, stopped}, return_when=asyncio.FIRST_COMPLETED)
    if agent.used:
        await ctx.host.records.leave()
    serving.cancel()
    stopped.cancel()
    await asyncio.wait({serving, stopped})
    await peer.close()
