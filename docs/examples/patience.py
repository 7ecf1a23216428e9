"""Asks whether a turn shall go on when three calls in a row came to nothing."""

# /// hermes
# api = 1
# name = "patience"
# kind = "tool"
# summary = "Asks whether a turn shall go on when its calls come to nothing."
#
# [hooks]
# use = ["next_step", "on_turn_end"]
# ///

from hermes_core import hookimpl
from hermes_core.types import Verdict


@hookimpl
async def next_step(ctx, session, results):
    failed = ctx.state.get(session.turn, 0)
    for result in results:
        failed = failed + 1 if result.failed else 0
    ctx.state[session.turn] = failed % 3
    return Verdict(outcome="ask", reason="Three calls in a row failed.") if failed >= 3 else None


@hookimpl
async def on_turn_end(ctx, session):
    ctx.state.pop(session.turn, None)
