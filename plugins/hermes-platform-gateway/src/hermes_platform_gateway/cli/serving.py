"""``hermes gateway run`` and ``work``: being a process of the gateway."""

import asyncio
import logging
import signal
from collections.abc import Callable, Sequence

import click

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, UserError
from hermes_platform_gateway.cli.processes import folder_of
from hermes_platform_gateway.config import gateway_settings
from hermes_platform_gateway.served import served
from hermes_platform_gateway.supervision.processes import here

__all__ = ["make_run", "make_work"]

log = logging.getLogger(f"hermes.{__name__}")

_health = click.option(
    "--health", metavar="HOST:PORT", default="", help="Listen for probes there, whatever gateway.health says."
)


def make_run(ctx: PluginContext) -> click.Command:
    """``gateway run``."""

    @click.command()
    @click.option("--platform", "names", multiple=True, metavar="NAME", help="Only this platform; can be repeated.")
    @click.option("--no-work", is_flag=True, help="Only listen and send; others play the turns.")
    @_health
    async def run(names: Sequence[str], no_work: bool, health: str) -> None:
        """Serve the configured platforms until stopped (Ctrl+C, SIGTERM).

        A platform is served when it has a section `platforms.NAME`, or its secrets are set.
        """
        await _serve(ctx, names, work=not no_work, health=health)

    return run


def make_work(ctx: PluginContext) -> click.Command:
    """``gateway work``."""

    @click.command()
    @_health
    async def work(health: str) -> None:
        """Only play turns: a worker beside gateways that share its store (store.url, workers.queue)."""
        await _serve(ctx, None, work=True, health=health)

    return work


async def _serve(ctx: PluginContext, names: Sequence[str] | None, *, work: bool, health: str) -> None:
    """Serve platforms: those named, with no name those configured, none for None."""
    from hermes_platform_gateway.gateway import Gateway
    from hermes_platform_gateway.supervision.supervised import probes_at, supervised

    platforms, problem = ([], "") if names is None else served(ctx, names)
    if problem:
        click.echo(problem, err=True)  # the others are served all the same
    if names is not None and not platforms and all(one.local for one in ctx.host.services()):
        raise UserError(
            "There is no platform to serve.",
            hint=f"Configure one, such as: {ctx.program} config set TELEGRAM_BOT_TOKEN; see docs/how-to/gateway.md.",
        )
    gateway = Gateway(ctx, platforms, work=work)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    telling = asyncio.create_task(_tell(gateway.told))
    asking = asyncio.create_task(_nobody_answers(ctx))
    try:
        with here(folder_of(ctx)):
            config, answers = gateway_settings(ctx), ctx.host.records.answers
            probes = probes_at(health, config.health)
            async with supervised(answers, probes, stop, gateway.told, config.drain_seconds):
                await gateway.run(stop)
    finally:
        telling.cancel()
        asking.cancel()


async def _nobody_answers(ctx: PluginContext) -> None:
    """Say so, and log it, where no model can answer what comes."""
    try:
        await ctx.models.current()
    except HermesError as error:
        log.error("nobody can answer: %s", error)
        click.echo(f"Nobody can answer: {error}", err=True)


async def _tell(told: Callable[[], Sequence[str]]) -> None:
    """Say how the platforms are, whenever that changes."""
    before: Sequence[str] = ()
    while True:
        now = told()
        for line in now:
            if line not in before:
                click.echo(line, err=True)
        before = now
        await asyncio.sleep(0.2)
