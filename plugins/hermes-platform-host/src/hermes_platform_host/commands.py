"""``hermes attach`` and ``hermes host``."""

import asyncio
import os
import signal
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from hermes_core import __version__
from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Command
from hermes_platform_host.config import Config

if TYPE_CHECKING:
    import click

    from hermes_platform_host.serving import Serving

__all__ = ["commands"]


def commands(ctx: PluginContext) -> Sequence[Command]:
    """All of them."""
    made = {"attach": _attach, "host run": _run, "host status": _status}
    return [Command(name=name, build=partial(build, ctx)) for name, build in made.items()]


def _run(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("run")
    @click.option("--auto", is_flag=True, help="Only where host.auto is on, and until it is unused.")
    async def command(auto: bool) -> None:
        """Serve the terminals of this home until stopped (Ctrl+C, SIGTERM).

        `hermes -z` then answers without loading Hermes anew, a conversation goes on when its window is closed, and
        several terminals take part in it: `hermes -c`, `hermes attach`.
        `hermes gateway run` does the same beside its chat services.
        """
        from hermes_platform_host.serving import Serving, running

        config = ctx.config or Config()
        if auto and (not config.auto or running(ctx)):
            return
        if running(ctx):
            raise UserError("A host of this home runs already.", hint=f"See: {ctx.program} host status")
        await ctx.host.start()
        stop, loop = asyncio.Event(), asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, stop.set)
        anew = f"End it where it runs (process {os.getpid()}), then begin it anew: {ctx.program} host run"
        service = Serving(ctx, patient=False, anew="It ends by itself as soon as nobody uses it" if auto else anew)
        serving, stopped = asyncio.create_task(service.run()), asyncio.create_task(stop.wait())
        leaving = asyncio.create_task(_unused(service, config.idle_seconds, stop)) if auto else stopped
        click.echo(f"Terminals of {ctx.paths.home} are served. Ctrl+C stops.", err=True)
        await asyncio.wait({serving, stopped}, return_when=asyncio.FIRST_COMPLETED)
        leaving.cancel()
        if serving.done():
            stopped.cancel()
            serving.result()
            return
        await ctx.host.records.leave()  # what runs is left as a death leaves it: `-r` finishes it
        serving.cancel()
        await asyncio.wait({serving})

    return command


async def _unused(service: "Serving", seconds: float, stop: asyncio.Event) -> None:
    """Stop once nobody used it for so long; at once where it serves nobody any more, as settings changed."""
    while service.unused < (0.1 if service.outdated else seconds):  # noqa: ASYNC110 - time passes, and nothing else
        await asyncio.sleep(min(1.0, seconds / 4))
    stop.set()


def _status(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("status")
    def command() -> int:
        """Say whether a host of this home runs, and whether it serves this terminal. Exit 1 where none does."""
        from hermes_platform_host.checks import look

        serves, text = look(ctx)
        click.echo(text)
        return 0 if serves else 1

    return command


def _attach(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("attach")
    @click.argument("session", default="", metavar="[ID|TITLE]")
    def command(session: str) -> int:
        """Take up a conversation that runs on the host of this home.

        Without a name: what runs there now, else the last one. It shows what was said and what is being said; a line
        that you write is a message, the answer to what is asked, or a slash command. Ctrl+C stops the turn, Ctrl+D
        leaves, and what runs goes on. Several terminals may look on; all see the same, and who answers first has
        answered. `hermes -r ID` takes the same part on a full screen.
        """
        from hermes_front.one_shot import hello
        from hermes_front.wire import Lines, connect, frame, place_of
        from hermes_platform_host.checks import advice
        from hermes_platform_host.terminal import Terminal

        home = str(ctx.paths.home)
        connection = connect(place_of(home), 1.0)
        if connection is None:
            go_on = f"{ctx.program} -r {session}" if session else f"{ctx.program} -c"
            hint = f"Begin one: {ctx.program} gateway start, or {ctx.program} host run. Or go on here: {go_on}"
            raise UserError("No host of this home runs.", hint=hint)
        with connection:
            lines = Lines(connection)
            try:
                connection.sendall(frame(**hello(__version__, home, do="attach")))
                said = next(iter(lines), {"no": "it closed the connection"})
            except (OSError, ValueError) as error:
                said = {"no": str(error)}
            if "no" in said:
                raise UserError(f"The host does not serve this terminal: {said['no']}.", hint=advice(ctx, said))
            return Terminal(ctx.program, session, connection, lines).talk()

    return command
