"""The browser of each session, from its first page to its rest."""

from hermes_core.context import PluginContext
from hermes_core.kinds import Resource, Workspace
from hermes_core.types import Session
from hermes_tool_browser.browsing import Browsing
from hermes_tool_browser.config import Config

__all__ = ["Browsers", "open_one"]

_OPEN = "browsers"  # of the plugin's state: those that are open, by session


def open_one(ctx: PluginContext, session_id: str) -> Browsing | None:
    """The browser that a session has open; None where it has none that can be used."""
    found: Browsing | None = ctx.state.get(_OPEN, {}).get(session_id)
    return found if found is not None and found.alive else None


class Browsers(Resource):
    """Opens and closes them."""

    name = "browser"
    shared = True  # for who fills its fields: ``hermes_tool_kit.fields``

    def __init__(self, ctx: PluginContext) -> None:
        config: Config = ctx.config or Config()
        self._ctx, self.idle = ctx, float(config.idle)

    async def open(self, session: Session, workspace: Workspace) -> Browsing:
        """Start one. Raises ToolError."""
        from hermes_tool_browser.backends import backend_of
        from hermes_tool_browser.driver import Driver
        from hermes_tool_browser.fields import Open

        driver = self._ctx.state.setdefault("driver", Driver())
        browsing = Open(self._ctx, backend_of(self._ctx), driver)
        await browsing.open()
        self._ctx.state.setdefault(_OPEN, {})[session.id] = browsing
        return browsing

    async def close(self, thing: Browsing) -> None:
        """End it."""
        opened = self._ctx.state.get(_OPEN, {})
        for name in [name for name, one in opened.items() if one is thing]:
            del opened[name]
        await thing.close()

    def alive(self, thing: Browsing) -> bool:
        """Whether it can be used."""
        return thing.alive

    def describe(self, thing: Browsing) -> str:
        """What is open in it."""
        return thing.describe()
