"""``hermes proxy``: serving at a terminal, and the key that programs give."""

import asyncio
import signal
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext

if TYPE_CHECKING:
    from collections.abc import Callable

    import click

__all__ = ["build"]


def build(ctx: PluginContext) -> "click.Command":
    """Make ``hermes proxy``."""
    import click

    from hermes_platform_proxy.config import Config

    config = ctx.config or Config()

    @click.command("proxy")
    @click.option("--service", default=config.service, metavar="NAME", help="Whose login; the first there is.")
    @click.option("--as", "account", default=config.account, metavar="NAME", help="The account that answers first.")
    @click.option(
        "--port", type=click.IntRange(0, 65_535), default=config.port, show_default=True, help="On 127.0.0.1."
    )
    @click.option("--key", is_flag=True, help="Show the key that programs give, and serve nothing.")
    @click.option(
        "--new-key", is_flag=True, help="Make another key; a proxy that runs takes the old one until it ends."
    )
    async def command(service: str, account: str, port: int, key: bool, new_key: bool) -> None:
        """Let programs on this machine use a login of yours, until this is stopped.

        They speak OpenAI's protocol to http://127.0.0.1:8645/v1 and give the key that hermes proxy --key shows. Hermes
        puts the login in its place and renews it; no program gets to see it. What the service's terms say of other
        programs holds for these, too.

        \b
        Examples:
          hermes proxy --service xai
          OPENAI_API_KEY=$(hermes proxy --key) OPENAI_BASE_URL=http://127.0.0.1:8645/v1 program
        """
        from hermes_platform_proxy.key import key_of

        if key or new_key:
            click.echo(key_of(ctx.secrets, new=new_key))
            return
        from hermes_platform_proxy.app import App
        from hermes_platform_proxy.server import listen, serve
        from hermes_platform_proxy.upstream import Upstream

        upstream = Upstream(ctx, service, account)
        name = upstream.begin()
        listening = listen(port)
        place = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        click.echo(f"{name} answers at {place}, for programs with the key: {ctx.program} proxy --key", err=True)

        def up(end: "Callable[[], None]") -> None:
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end)

        try:
            await serve(App(ctx, upstream, key_of(ctx.secrets)), listening, up=up)
        finally:
            await upstream.close()

    return command
