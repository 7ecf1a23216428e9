"""What the tests do in a container, over and over."""

import asyncio
import json

from hermes_core.types import ExecRequest


async def sh(place, script, **more):
    return await place.run(ExecRequest(argv=("sh", "-c", script), **{"seconds": 60.0, **more}))


async def bash(place, script, **more):
    return await place.run(ExecRequest(argv=("bash", "-c", script), **{"seconds": 60.0, **more}))


def container_of(daemon, place):
    """What the daemon says about a workspace's container."""
    (found,) = json.loads(daemon.told("inspect", place._lease.plan.name))
    return found


async def processes(place):
    """The command lines in the container, without what Hermes keeps there."""
    result = await sh(place, "ps -o args")
    lines = result.output.decode().splitlines()[1:]
    own = ("cat", "ps -o args", "{ps} sh -c ps -o args", "sleep 1", "sleep 30")
    return [line for line in lines if "HERMES_" not in line and line not in own]


async def until(look, wanted, tries=200):
    """Wait until an awaitable look gives what is wanted."""
    for _ in range(tries):
        found = await look()
        if found == wanted:
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"{found!r} did not become {wanted!r}")
