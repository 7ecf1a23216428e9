"""Writes down when each conversation was gone on with, and forgets those that are deleted."""

# /// hermes
# api = 1
# name = "diary"
# kind = "tool"
# summary = "Writes down when each conversation was gone on with."
#
# [hooks]
# use = ["on_turn_end", "on_session_deleted"]
# ///

import time

from hermes_core import hookimpl


@hookimpl
async def on_turn_end(ctx, session, end):
    ctx.paths.data.mkdir(parents=True, exist_ok=True)
    page = ctx.paths.data / session.id
    before = page.read_text() if page.exists() else ""
    page.write_text(f"{before}{time.ctime()}: {end.reason}\n")


@hookimpl
async def on_session_deleted(ctx, session):
    (ctx.paths.data / session.id).unlink(missing_ok=True)
