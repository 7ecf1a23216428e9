"""Blocking, muting and letting back in: what an admin does in a chat, and whoever runs this Hermes at the terminal."""

import re
import time
from typing import Literal

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, UserError
from hermes_core.options import listed
from hermes_core.types import Principal
from hermes_platform_gateway.config import gateway_settings, platform_settings
from hermes_platform_gateway.people.access import OWNER
from hermes_platform_gateway.people.blocks import changed
from hermes_platform_gateway.people.register import Entry
from hermes_platform_gateway.rows.kept import rows_of
from hermes_platform_gateway.rows.values import Restriction

__all__ = ["let_back", "open_doors", "restrict", "seconds_of"]

_UNITS = {"m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
_LONGEST = 366 * 86_400
_SPAN = re.compile(r"(\d{1,6})\s*(m|min|h|d|w)", re.IGNORECASE)


def seconds_of(text: str) -> float:
    """How long ``90m``, ``1h``, ``2d`` or ``1w`` is, in seconds. Raises UserError."""
    found = _SPAN.fullmatch(text.strip())
    seconds = int(found[1]) * _UNITS[found[2].lower()] if found else 0
    if not 60 <= seconds <= _LONGEST:
        raise UserError(f"{text!r} is no length of time.", hint="Say 30m, 2h, 3d or 1w; a year at most.")
    return float(seconds)


async def restrict(ctx: PluginContext, entry: Entry, *, by: str, actor: str, seconds: float = 0.0) -> Restriction:
    """Block somebody, or mute them for so many seconds: a row first, then what they have under way is stopped.

    ``actor`` is who asks for it. Raises UserError for the owner, for oneself, and for an admin unless the owner asks.
    """
    if entry.person == OWNER:
        raise UserError("The owner of this Hermes is never blocked or muted.")
    if entry.person == actor:
        raise UserError("You cannot block or mute yourself.")
    if entry.role == "admin" and actor != OWNER:
        raise UserError(f"{entry.person} is an admin: only the owner blocks or mutes one.")
    until = time.time() + seconds if seconds else 0.0
    kind: Literal["block", "mute"] = "mute" if seconds else "block"
    wanted = Restriction(subject=entry.person, kind=kind, person=entry.person, by=by, until=until)
    rows = rows_of(ctx)
    await rows.restrictions.put(wanted, entry.accounts)
    changed(ctx)
    await rows.invites.withdraw(entry.person)
    await _stop(ctx, Principal(profile=ctx.owner.profile, person=entry.person))
    return wanted


async def let_back(ctx: PluginContext, entry: Entry, *, kind: str = "") -> bool:
    """Take back what keeps somebody from being heard; whether anything did."""
    lifted = await rows_of(ctx).restrictions.lift(entry.person, *entry.accounts, kind=kind)
    changed(ctx)
    return lifted > 0


def open_doors(ctx: PluginContext, entry: Entry) -> list[str]:
    """The settings that let somebody in all the same: a code that is revoked does not close these."""
    gateway, found = gateway_settings(ctx), [one for one in entry.let_in if "." in one and "(" not in one]
    for account in entry.accounts:
        platform, _, sender = account.partition(":")
        try:
            here = platform_settings(ctx, platform)
        except HermesError:
            continue
        if here.allow_all_users or "*" in listed(here.allowed_users):
            found.append(f"platforms.{platform}.{'allow_all_users' if here.allow_all_users else 'allowed_users'}")
        if sender in listed(gateway.allowed_users) or "*" in listed(gateway.allowed_users):
            found.append("gateway.allowed_users")
    if gateway.allow_all_users:
        found.append("gateway.allow_all_users")
    return list(dict.fromkeys(found))


async def _stop(ctx: PluginContext, owner: Principal) -> None:
    """End what runs for somebody, and give up what waits, so that nothing more is spent on it."""
    for row in await ctx.sessions.rows(owner, limit=1000, children=True):
        session = row.session.id
        try:
            if await ctx.turns.busy(session, owner=owner):
                await ctx.turns.interrupt(session, owner=owner)
                await ctx.turns.interrupt(session, owner=owner, elsewhere=True)
            await ctx.turns.drop(session, owner=owner)
        except HermesError as error:  # it holds all the same: nothing that comes is heard
            ctx.log.info("what waits in %s could not be given up: %s", session, error)
