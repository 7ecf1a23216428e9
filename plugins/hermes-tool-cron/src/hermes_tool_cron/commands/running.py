"""Jobs are run from a terminal: one now, what is due, or all until it is stopped."""

import asyncio
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext

if TYPE_CHECKING:
    import click

    from hermes_tool_cron.values import Run

__all__ = ["make_daemon", "make_run", "make_tick"]

_LOOK = 0.5


def make_run(ctx: PluginContext) -> "click.Command":
    """``cron run``."""
    import click

    @click.command()
    @click.argument("name")
    @click.option("--wait/--no-wait", default=True, help="Wait for its end, and print what it said.")
    async def command(name: str, wait: bool) -> int:
        """Run the job NAME now, beside its times, and print what it says.

        Where a gateway runs, that runs it; else it is run here. What it says is delivered as always.
        """
        from hermes_tool_cron import actions
        from hermes_tool_cron.commands.changing import door_of
        from hermes_tool_cron.playing import Player

        door = door_of(ctx)
        run: Run | None = await actions.run_now(door, await actions.find(door, name))
        if not await door.rows.clocks():
            run = await Player(ctx).play(run) if run else None
        elif not wait:
            click.echo("It is to run now.", err=True)
            return 0
        else:
            run = await _end(ctx, run)
        return _told(run)

    return command


async def _end(ctx: PluginContext, run: "Run | None") -> "Run | None":
    """Wait until whoever runs jobs has run this one."""
    from hermes_tool_cron.playing import jobs_of
    from hermes_tool_cron.values import OPEN

    while run and run.state in OPEN:
        await asyncio.sleep(_LOOK)
        run = next(iter(await jobs_of(ctx).these([run.id])), None)
    return run


def _told(run: "Run | None") -> int:
    import click

    if run is None:
        click.echo("The job was removed while it ran.", err=True)
        return 1
    if text := run.shown or run.answer:
        from hermes_tables.tables import harmless

        click.echo(harmless(text))
    if run.state == "silent":
        click.echo(f"Nothing is delivered: {run.why}.", err=True)
    elif run.state != "done":
        click.echo(f"{run.name}: {run.state}, {run.why}", err=True)
    elif run.delivery not in ("", "sent", "owed"):
        click.echo(f"It could not be delivered: {run.delivery}", err=True)
    return 0 if run.state in ("done", "silent") else 1


def make_tick(ctx: PluginContext) -> "click.Command":
    """``cron tick``."""
    import click

    @click.command()
    async def command() -> None:
        """Run what is due now, once, and wait until it is done: for a timer of the system, where no gateway runs."""
        from hermes_tool_cron.ticker import Ticker

        ticker, written = Ticker(ctx), 0
        while True:
            looked = await ticker.once()
            written += len(looked.written)
            await ticker.rest()
            if not looked.again or looked.again > looked.now:
                break
        click.echo(f"{written} instants had come." if written else "Nothing was due.", err=True)

    return command


def make_daemon(ctx: PluginContext) -> "click.Command":
    """``cron daemon``."""
    import click

    @click.command()
    async def command() -> None:
        """Run jobs until it is stopped by Ctrl-C: for a machine without a gateway.

        What is to be told in chats is written down, and goes out as soon as a gateway serves them.
        """
        from hermes_tool_cron.ticker import Ticker

        click.echo(f"Jobs are run from here. {await Ticker(ctx).status()}", err=True)
        await Ticker(ctx).run()

    return command
