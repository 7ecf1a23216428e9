"""Looking whether a resource keeps its promises, without a kernel."""

import asyncio
from pathlib import Path

from hermes_core.errors import ToolError
from hermes_core.kinds import Resource
from hermes_core.testing.fakes import FakeWorkspace
from hermes_core.testing.leftovers import Traces
from hermes_core.types import Session

__all__ = ["problems"]

_CLOSE = 5.0  # seconds that the kernel waits for a close


async def problems(resource: Resource, folder: Path) -> list[str]:
    """What is wrong with one that is opened and cancelled, opened and closed, and opened again; in words."""
    work = folder / "work"
    work.mkdir(exist_ok=True)
    place = FakeWorkspace(folder=work)
    session, found, before = Session(id="test", origin="embed", cwd=place.cwd), [], Traces.now()
    if resource.idle <= 0:
        found.append(f"{resource.name} is closed the moment that it is not used")
    for cancelled in (True, False, False):
        opening = asyncio.ensure_future(resource.open(session, place))
        await asyncio.sleep(0)
        if cancelled:
            opening.cancel()
        await asyncio.wait([opening])
        error = None if opening.cancelled() else opening.exception()
        if error and not isinstance(error, ToolError):
            found.append(f"opening {resource.name} raised {type(error).__name__}: {error}")
        if opening.cancelled() or error:
            continue
        thing = opening.result()
        if not resource.alive(thing) or resource.busy(thing):
            found.append(f"{resource.name} is dead or busy when it was just opened")
        if not isinstance(said := resource.describe(thing), str) or not said.strip():
            found.append(f"describe of {resource.name} gives no line of text: {said!r}")
        try:
            await asyncio.wait_for(resource.close(thing), _CLOSE)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
            found.append(f"closing {resource.name} raised {type(error).__name__}: {error}")
    return found + [f"after {resource.name} was closed: {one}" for one in await before.left()]
