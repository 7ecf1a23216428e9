"""One login of a person, from what the terms say to what is kept: for commands and for setup steps."""

import secrets
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from hermes_core.errors import UserError
from hermes_core.kinds import LoginPrompt
from hermes_provider_subscriptions.accounts import login_of, logins_of, service_of

if TYPE_CHECKING:
    from hermes_core.context import PluginContext

__all__ = ["borrowed", "entered", "free_name"]

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
    from hermes_login.kept import Kept

    service = service_of(ctx, name)
    logins_of(ctx).path(name, account)  # a bad name is told before anybody logs in
    if service.terms and not agreed:
        said = await show(LoginPrompt(f"{service.terms} Write yes to log in all the same.", paste=True))
        if said.strip().lower() not in ("yes", "y"):
            raise UserError(f"Nobody said yes to what the terms of {service.title} say, so there is no login.")
    tokens = await log_in(service, show, paste=paste)
    await login_of(ctx, service, account).keep(Kept(token_url=service.token_url, tokens=tokens))


async def borrowed(ctx: "PluginContext", name: str, account: str) -> None:
    """Keep that the login of another program is read; a person has said yes to it. Raises UserError."""
    from hermes_login.foreign import read_foreign
    from hermes_login.kept import Kept

    service = service_of(ctx, name)
    read_foreign(service.foreign)
    await login_of(ctx, service, account).keep(Kept(token_url=service.token_url, borrowed=service.foreign))


def free_name(ctx: "PluginContext", name: str) -> str:
    """Return a name for one more account of a service."""
    there = logins_of(ctx).accounts(name)
    return "default" if "default" not in there else f"login-{secrets.token_hex(3)}"
