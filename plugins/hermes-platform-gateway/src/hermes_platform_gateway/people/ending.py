"""What goes on in the background for somebody who is blocked: no turn holds it, so nothing else would end it."""

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.kinds import Jobs
from hermes_core.types import Principal, Session
from hermes_platform_gateway.people.blocks import blocks

__all__ = ["end_jobs"]

_BEFORE = "ended for"


async def end_jobs(ctx: PluginContext) -> None:
    """End what this process runs for whoever was blocked lately, by it or by another one.

    It looks twice: a step that was under way as they were blocked may have begun something meanwhile.
    """
    now = await blocks(ctx)
    before: tuple[frozenset[str], ...] = ctx.state.get(_BEFORE, (frozenset(), frozenset()))
    ctx.state[_BEFORE] = (before[-1], now)
    for person in sorted(now - before[0]):
        await _end(ctx, Principal(profile=ctx.owner.profile, person=person))


async def _end(ctx: PluginContext, owner: Principal) -> None:
    rows = await ctx.sessions.rows(owner, limit=1000, children=True)
    found, _ = ctx.host.contributed("jobs", ctx.plugins.offered("jobs")) if rows else ({}, ())
    for source in found.values():
        for row in rows:
            await _end_in(ctx, source, row.session)


async def _end_in(ctx: PluginContext, source: Jobs, session: Session) -> None:
    try:
        for job in await source.running(session):
            await source.stop(session, job.id)
    except HermesError as error:
        ctx.log.warning("what runs beside %s could not be ended: %s", session.id, error)
