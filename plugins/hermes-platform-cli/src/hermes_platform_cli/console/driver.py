"""What ``hermes`` serves a terminal's platform with."""

import contextlib
import os
import sys
from collections.abc import Callable

import click
from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.kinds import Platform
from hermes_platform_kit.shared import SharedTurns, SharingDriver

__all__ = ["Terminal"]


class Terminal(SharingDriver):
    """Carries the conversations of one platform until the people on it leave."""

    name = "terminal"
    front = "hermes_platform_cli.console.front:carry"

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx

    async def serve(self, platform: Platform, session: str, require: Callable[[str, str], None]) -> None:
        """See ConsoleDriver. Where a host of this home serves this terminal, that carries it."""
        if await self._through_host(platform, session, require):
            return
        from hermes_platform_cli.commands.leaving import Leaving
        from hermes_platform_cli.console.session import ConsoleSession
        from hermes_platform_kit.one_turn import way_back

        console = ConsoleSession(self._ctx, platform, session=session, require=require)
        async with Leaving(self._ctx) as leaving:
            await console.serve()
        typed = not sys.stdin.closed and sys.stdin.isatty()  # a platform that reads it by a pipe closes it at its end
        if leaving.caught or typed:  # a program that typed comes back by itself
            back = way_back(self._ctx.program, await console.sessions(), cut=leaving.caught and console.cut)
            with contextlib.suppress(OSError):  # the terminal may be gone
                click.echo(back, err=True, nl=bool(back))
        leaving.end()

    async def _through_host(self, platform: Platform, session: str, require: Callable[[str, str], None]) -> bool:
        from hermes_front.wire import MARK, place_of

        home = str(self._ctx.paths.home)
        if MARK in os.environ:  # a tool runs this, and no host speaks with it
            return False
        if os.path.exists(place_of(home)):  # noqa: PTH110 - pathlib is dear
            from hermes_platform_cli.console.through import through_host

            return await through_host(self._ctx, platform, session, require)
        from hermes_front.one_shot import begin_host, wants_host

        if wants_host(home):
            begin_host()  # for whoever comes next
        return False

    async def share(self, platform: Platform, session: str, turns: SharedTurns) -> None:
        """See SharingDriver."""
        from hermes_platform_cli.console.session import ConsoleSession

        ctx = evolve(self._ctx, turns=turns)
        await ConsoleSession(ctx, platform, session=session, require=_allowed).serve()


def _allowed(_permission: str, _did: str) -> None:
    """Refuse nothing: the process that asks has looked at what its plugin may ask."""
