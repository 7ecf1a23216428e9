"""``hermes attach`` and ``hermes host``."""

import asyncio
import contextlib
import os
import select
import signal
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from hermes_core import __version__
from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Command
from hermes_platform_host.config import Config

if TYPE_CHECKING:
    import socket

    import click

    from hermes_front.wire import Lines
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
        return _Terminal(ctx, session).talk()

    return command


class _Terminal:
    """This terminal, attached."""

    def __init__(self, ctx: PluginContext, session: str) -> None:
        self._ctx, self._session = ctx, session
        self._left = False

    def talk(self) -> int:
        """Take part until the person leaves, or the host ends; the exit status."""
        from hermes_front.one_shot import hello
        from hermes_front.wire import Lines, connect, frame, place_of
        from hermes_platform_host.checks import advice

        home = str(self._ctx.paths.home)
        connection = connect(place_of(home), 1.0)
        if connection is None:
            go_on = f"{self._ctx.program} -r {self._session}" if self._session else f"{self._ctx.program} -c"
            hint = (
                f"Begin one: {self._ctx.program} gateway start, or {self._ctx.program} host run. Or go on here: {go_on}"
            )
            raise UserError("No host of this home runs.", hint=hint)
        with connection:
            lines = Lines(connection)
            try:
                connection.sendall(frame(**hello(__version__, home, do="attach")))
                said = next(iter(lines), {"no": "it closed the connection"})
            except (OSError, ValueError) as error:
                said = {"no": str(error)}
            if "no" in said:
                raise UserError(f"The host does not serve this terminal: {said['no']}.", hint=advice(self._ctx, said))
            connection.settimeout(None)
            connection.sendall(frame(session=self._session))
            return self._follow(connection, lines)

    def _follow(self, connection: "socket.socket", lines: "Lines") -> int:
        from hermes_front.wire import frame

        typing = True
        while True:
            try:
                waits = [connection, sys.stdin] if typing else [connection]
                ready = select.select(waits, [], [])[0]
                if connection in ready:
                    # a frame may come in pieces, and several at once
                    for told in lines.at_hand():
                        if "x" in told:
                            return int(told["x"])
                        self._show(told)
                    if lines.over:
                        return self._lost()
                elif sys.stdin in ready:
                    typing = self._typed(connection)
            except KeyboardInterrupt:
                with contextlib.suppress(OSError):
                    connection.sendall(frame(interrupt=1))

    def _typed(self, connection: "socket.socket") -> bool:
        """Send what the person typed; False once there is nothing more."""
        from hermes_front.wire import LARGEST, frame

        data = os.read(0, LARGEST // 8)
        with contextlib.suppress(OSError):  # told where nothing more comes
            if not data:
                connection.sendall(frame(leave=1, wait=not sys.stdin.isatty()))
                return False
            for line in data.decode("utf-8", "replace").splitlines():
                connection.sendall(frame(say=line))
        return True

    def _show(self, told: dict[str, object]) -> None:
        for key, stream in (("o", sys.stdout), ("e", sys.stderr)):
            if key in told:
                stream.write(str(told[key]))
                stream.flush()
        self._session = str(told.get("s") or self._session)

    def _lost(self) -> int:
        program = self._ctx.program
        sys.stderr.write(f"The host ended. Nothing that was stored is lost; go on: {program} -r {self._session}\n")
        return 1
