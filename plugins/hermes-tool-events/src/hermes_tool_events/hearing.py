"""Which turns are to be told of, a gateway's: a row says so before one is over, so no death loses that it was."""

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.types import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_tool_events.rows import Rows

__all__ = ["on_gateway_start", "on_turn_end", "on_turn_start", "rows_of"]


def rows_of(ctx: PluginContext) -> "Rows":
    """Return the rows of this home."""
    from hermes_tool_events.rows import Rows  # with SQLAlchemy, which who tells nobody goes without

    rows: Rows = ctx.state.setdefault("rows", Rows(ctx.store))
    return rows


def _is_told(ctx: PluginContext, session: Session) -> bool:
    """Tell whether anybody hears of turns in a session; of child agents nobody does, they work for a turn that is."""
    serves = ctx.state.get("serves") and ctx.config and ctx.config.targets
    return bool(serves and session.turn and (not session.parent or "/" in session.parent))


@hookimpl
async def on_gateway_start(ctx: PluginContext) -> None:
    """Tell of turns from now on; what happens in a terminal is seen there."""
    ctx.state["serves"] = True


@hookimpl
async def on_turn_start(ctx: PluginContext, session: Session) -> None:
    """Write down that this turn is to be told of when it is over."""
    if _is_told(ctx, session):
        await rows_of(ctx).begun(session.turn, session.id, session.origin, session.owner.person)


@hookimpl
async def on_turn_end(ctx: PluginContext, session: Session) -> None:
    """Say that it is over."""
    if _is_told(ctx, session):
        await rows_of(ctx).over(session.turn)
