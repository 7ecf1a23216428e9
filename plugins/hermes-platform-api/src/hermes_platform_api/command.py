"""``hermes api``."""

from typing import TYPE_CHECKING, Any

from hermes_core.context import PluginContext

if TYPE_CHECKING:
    import click

    from hermes_platform_api.platform import Api

__all__ = ["build"]


def build(ctx: PluginContext) -> "click.Command":
    """The command."""
    import click

    @click.command("api")
    @click.option("--host", default=None, help="The address to listen on (platforms.api.host).")
    @click.option("--port", type=click.IntRange(0, 65535), default=None, help="The port (platforms.api.port).")
    async def command(host: str | None, port: int | None) -> None:
        """Serve the OpenAI-compatible HTTP API until it is stopped.

        Every request needs the key in API_SERVER_KEY. Without one, a key is made, kept and shown once. On an address
        that other machines reach, the key is all that stands before your agent: put TLS in front of it.

        \b
        Examples:
          hermes api
          hermes api --port 9000
        """
        from attrs import evolve

        from hermes_platform_api.config import Config
        from hermes_platform_api.platform import Api

        given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
        config: Any = ctx.config or Config()
        await _serve(ctx, Api(ctx, evolve(config, **given)))

    return command


async def _serve(ctx: PluginContext, api: "Api") -> None:
    """Listen until SIGTERM ends it in good order; what turns need is there before anybody comes."""
    import asyncio
    import gc
    import signal

    from hermes_core.kinds import Console

    await ctx.models.current()
    await ctx.turns.interrupted()
    await ctx.plugins.tools("api")
    gc.collect()
    gc.freeze()  # what stays for good is not looked at again and again: that would hold up turns
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, api.end)
    try:
        await api.open(Console())
        async for _ in api.receive():
            pass
    finally:
        await api.close(leaving=True)
