"""What a screen chose to be asked less holds for itself: not where another screen is too, and not once it left."""

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, UserError
from hermes_core.slash import HostSide
from hermes_core.types import Session

__all__ = ["tighten"]

_MODES = ("ask", "smart", "off")  # strictest first


def tighten(ctx: PluginContext, session: str) -> bool:
    """Let a session ask as often again as it is set up; False where it asks as much, or more."""
    slash, here = ctx.slash.commands("terminal"), Session(id=session, origin="cli", owner=ctx.owner)
    usual, mode = slash.status(None).get("mode", "ask"), slash.status(here).get("mode", "ask")
    if _MODES.index(mode) <= _MODES.index(usual):
        return False
    try:
        slash.conversation(_Nobody(ctx), here).mode(usual)
    except HermesError:
        ctx.log.exception("what a session asks could not be set back")
        return False
    return True


class _Nobody(HostSide):
    """Who sets it back: the host, which does nothing else in a conversation."""

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx

    @property
    def who(self) -> str:
        return f"{self._ctx.owner.person} of profile {self._ctx.owner.profile}"

    async def take_up(self) -> Session:
        raise UserError("Nobody talks here.")

    async def switch(self, session_id: str = "") -> Session:
        raise UserError("Nobody talks here.")

    async def interrupt(self, session: Session) -> bool:
        return False

    async def working(self, session: Session) -> bool:
        return False

    async def steer(self, session: Session, text: str) -> str:
        raise UserError("Nobody talks here.")

    async def queue(self, session: Session, text: str) -> str:
        raise UserError("Nobody talks here.")

    async def beside(self, session: Session, text: str) -> str:
        raise UserError("Nobody talks here.")
