"""The proxy beside a gateway."""

from typing import TYPE_CHECKING

from hermes_core.kinds import Service
from hermes_platform_proxy.config import Config

if TYPE_CHECKING:
    from hermes_core.context import PluginContext

__all__ = ["Proxy"]


class Proxy(Service):
    """Serves where ``platforms.proxy.serve`` says so, in one process of this machine."""

    name = "proxy"
    local = True

    def __init__(self, ctx: "PluginContext") -> None:
        self._ctx, self._config = ctx, ctx.config or Config()

    async def run(self) -> None:
        """Serve until cancelled. Raises UserError where nobody is logged in, or the port is taken."""
        if not self._config.serve:
            return
        from hermes_platform_proxy.app import App
        from hermes_platform_proxy.key import key_of
        from hermes_platform_proxy.server import listen, serve
        from hermes_platform_proxy.upstream import Upstream

        upstream = Upstream(self._ctx, self._config.service, self._config.account)
        upstream.begin()
        try:
            await serve(App(self._ctx, upstream, key_of(self._ctx.secrets)), listen(self._config.port))
        finally:
            await upstream.close()

    async def status(self) -> str:
        """Say where it listens."""
        return f"on 127.0.0.1:{self._config.port}" if self._config.serve else "off (platforms.proxy.serve)"
