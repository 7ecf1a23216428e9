"""One login of a person, from what the terms say to what is kept: for commands and for setup steps."""

import os
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from hermes_core.errors import UserError
from hermes_core.kinds import LoginPrompt
from hermes_core.types import JSON
from hermes_provider_subscriptions.accounts import entry_of, login_of, logins_of, said_of, service_of
from hermes_provider_subscriptions.places import place_of

if TYPE_CHECKING:
    from hermes_core.context import PluginContext
    from hermes_login.service import LoginService

__all__ = ["borrowed", "entered", "free_name", "lendable"]

Show = Callable[[LoginPrompt], Awaitable[str]]


async def entered(
    ctx: "PluginContext", name: str, account: str, show: Show, *, agreed: bool = False, paste: bool = False
) -> None:
    """Have a person log in, and keep it in the place of what was there.

    Args:
        ctx: The plugin's.
        name: The service.
        account: What the login is called here.
        show: Shows them what to do, and gives what they bring back.
        agreed: They have read what the terms say.
        paste: Their browser is on another machine.

    Raises:
        HermesError: They did not log in, or it cannot be kept.
    """
    from hermes_login.entering import log_in
    from hermes_login.foreign import PROGRAMS
    from hermes_login.kept import Kept

    service = service_of(ctx, name)
    logins_of(ctx).path(name, account)  # a bad name is told before anybody logs in
    if service.terms and not agreed:
        said = await show(LoginPrompt(f"{service.terms} Write yes to log in all the same.", paste=True))
        if said.strip().lower() not in ("yes", "y"):
            raise UserError(f"Nobody said yes to what the terms of {service.title} say, so there is no login.")
    if not agreed and (there := lendable(service)):
        ask = "Write yes to have it read each time it is needed, without a login of its own"
        said = await show(LoginPrompt(f"{there} {ask}.", paste=True))
        if said.strip().lower() in ("yes", "y"):
            await borrowed(ctx, name, account)
            return
    if service.flow == "borrow":
        known = PROGRAMS[service.foreign]
        raise UserError(f"Nobody logs in to {service.title} here: {known.title} does.", hint=f"First: {known.again}")
    if not service.client_id:
        key = f"subscriptions.services.{name}.client_id"
        raise UserError(
            f"{service.title} hands out no client of its own to Hermes.",
            hint=f"Make an app on {service.register}, then: {ctx.program} config set {key} ID",
        )
    tokens = await log_in(service, show, paste=paste)
    kept = Kept(token_url=service.token_url, tokens=tokens, over=_told(ctx, service))
    await login_of(ctx, service, account).keep(kept)


async def borrowed(ctx: "PluginContext", name: str, account: str, file: str = "") -> None:
    """Keep that the login of another program is read; a person has said yes to it. Raises UserError.

    ``file`` is where that login is, if not where the program keeps it. Nothing of it is copied. The yes is to this one
    file: which one it is is kept, so that no variable of a later process leads to another.
    """
    from hermes_login.foreign import expanded, path_of, read_foreign
    from hermes_login.kept import Kept

    service = service_of(ctx, name)
    if not service.foreign:
        raise UserError(f"No other program is known that keeps a login of {service.title}.")
    path = str((expanded(file) if file else path_of(service.foreign)).absolute())
    read_foreign(service.foreign, path)
    kept = Kept(token_url=service.token_url, borrowed=service.foreign, path=path, over=_told(ctx, service))
    await login_of(ctx, service, account).keep(kept)


def _told(ctx: "PluginContext", service: "LoginService") -> Mapping[str, JSON]:
    """Return what is said of a service otherwise than its row does, with where it answers: kept with its login."""
    told = dict(said_of(ctx, service.name))
    with suppress(UserError):  # nobody said yet where it is
        told["base_url"] = place_of(ctx, service, entry_of(ctx, service.name))
    return told


def lendable(service: "LoginService", file: str = "") -> str:
    """Say which file of another program could be read for a service; empty where there is none. It is not opened."""
    from hermes_login.foreign import PROGRAMS, expanded

    if not service.foreign:
        return ""
    program = PROGRAMS[service.foreign]
    path = expanded(file) if file else program.path()
    return f"{path} is {program.what}." if os.path.lexists(path) else ""


def free_name(ctx: "PluginContext", name: str) -> str:
    """Return a name for one more account of a service."""
    there = logins_of(ctx).accounts(name)
    return "default" if "default" not in there else f"login-{secrets.token_hex(3)}"
