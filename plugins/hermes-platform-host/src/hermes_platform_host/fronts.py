"""What a terminal is offered that has loaded nothing yet: who serves it there, and what is shown first."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

from attrs import asdict

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_platform_host.attached import attached
from hermes_platform_host.consoles import consoles, driver_of
from hermes_platform_host.one_shot import folder_for
from hermes_platform_host.rooms import Rooms
from hermes_platform_host.screens import Screen
from hermes_platform_kit.fronted import Fronted

__all__ = ["fronts"]

_ATTACHED = "hermes_platform_host.terminal:carry"


async def fronts(
    told: Mapping[str, Any],
    ctx: PluginContext,
    rooms: Rooms,
    screen: Screen,
    frames: AsyncIterator[Mapping[str, Any]],
    cwd: str,
) -> None:
    """Offer a terminal what it can begin with, and serve it. Where there is nothing, it is told why."""
    talk, words = str(told.get("talk") or ""), str(told.get("session") or "")
    if talk == "attach":
        screen.send(carry=_ATTACHED, session=words)
        await attached(ctx, rooms, screen, frames, cwd)
        return
    try:
        offer = await _offer(ctx, talk, words or ("latest" if told.get("latest") is True else ""), cwd)
    except HermesError as error:  # it is said by whoever does it without this
        screen.send(no=ctx.masks.text(error.text))
        return
    if offer is None:
        screen.send(no="no screen is offered")
        return
    screen.send(**offer)
    await consoles(ctx, rooms, screen, frames, cwd)


async def _offer(ctx: PluginContext, talk: str, words: str, cwd: str) -> Mapping[str, Any] | None:
    """Return the session that is meant, and the platforms in the order in which they are tried. Raises HermesError."""
    driver = driver_of(ctx)
    if driver is None or not driver.front:
        return None
    session = await ctx.sessions.find(ctx.owner, words) if words else None
    wished = ctx.host.section("display").interface
    name = talk or ("" if wished == "auto" else wished)
    found, faults = ctx.host.contributed("platforms", [name] if name else ctx.host.interfaces, named=bool(name))
    if faults or not found or not all(isinstance(one, Fronted) for one in found.values()):
        return None  # what is wrong with them is told by who looks at them
    facts = dict(ctx.slash.commands("terminal").status(session))
    return {
        "carry": driver.front,
        "platforms": [
            {"name": name, "front": one.front, "shown": one.shown()}
            for name, one in found.items()
            if isinstance(one, Fronted)
        ],
        "session": session.id if session else "",
        "facts": facts if session else {**facts, "cwd": folder_for(ctx, cwd) or cwd},
        "owner": asdict(ctx.owner),
    }
