"""A turn is played and told of, in a process that may be killed."""

import asyncio
from pathlib import Path

from hermes_core.testing.bench import Bench
from hermes_core.testing.forks import serve
from hermes_tool_events.telling import Telling


async def turn(home: str, url: str) -> None:
    """Play the turn, or go on with it after a death, and tell of it."""
    kernel = Bench(Path(home))
    kernel.tmp_plugin("hermes_tool_events")
    kernel.tmp_plugin("hermes_provider_offline")
    target = {"to": url, "secret": "env:EVENTS_SECRET_OPS", "private": True}
    kernel.configure({"tools.events.targets": {"ops": target}})
    async with kernel:
        runtime = kernel.runtime
        runtime.loader.load_contributing("services")
        (service,) = (one for _, one in runtime.dispatch.contributions("register_services") if isinstance(one, Telling))
        service.ctx.state["serves"] = True
        events = [event async for event in kernel.resume("s")] if Path(home, "began").exists() else []
        if not events and not Path(home, "played").exists():
            Path(home, "began").touch()
            async for _ in kernel.turn("hello", session="s", origin="telegram"):
                pass
        Path(home, "played").touch()
        await service.round(lost=1e-6)
        await service.round(lost=1e-6)


def play(**order: str) -> None:
    asyncio.run(turn(**order))


if __name__ == "__main__":
    serve(play)
