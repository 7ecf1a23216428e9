"""Whether a host of this home runs, and whether it serves the terminal that asks."""

from collections.abc import Mapping, Sequence
from typing import Any

from hermes_core import __version__
from hermes_core.context import PluginContext
from hermes_core.types import Check, Finding
from hermes_front.wire import Lines, connect, frame, place_of

__all__ = ["advice", "checks", "look"]


def look(ctx: PluginContext) -> tuple[bool, str]:
    """Ask the host; whether it serves this terminal, and how things are in words."""
    from hermes_front.one_shot import hello

    home = str(ctx.paths.home)
    connection = connect(place_of(home), 1.0)
    if connection is None:
        return (
            False,
            f"No host of this home runs; begin one with `{ctx.program} gateway start` or `{ctx.program} host run`.",
        )
    with connection:
        try:
            connection.sendall(frame(**hello(__version__, home, do="attach")))
            said = next(iter(Lines(connection)), {"no": "it closed the connection"})
        except (OSError, ValueError) as error:
            said = {"no": str(error)}
    if "no" in said:
        return False, f"A host runs, and does not serve this terminal: {said['no']}. {advice(ctx, said)}"
    name = ctx.program
    return True, f"A host runs, and serves this terminal: `{name}`, `{name} -z` and `{name} attach` use it."


def advice(ctx: PluginContext, said: Mapping[str, Any]) -> str:
    """Say what to do about a host that ``said`` why it does not serve a terminal."""
    why = str(said["no"])
    if why.startswith(("version", "settings", "the host")):
        return str(said.get("anew") or f"Begin it anew: {ctx.program} gateway stop, then {ctx.program} gateway start")
    if why.startswith("another"):
        return "Begin the host with the same environment, or this terminal goes without it."
    return "This terminal goes without it."


def checks(ctx: PluginContext) -> Sequence[Check]:
    """The one check."""

    async def run() -> Sequence[Finding]:
        import asyncio

        _, text = await asyncio.to_thread(look, ctx)
        return [Finding(level="ok", text=text)]  # without one everything works

    return [Check(name="host", run=run, full=run, cheap=True)]
