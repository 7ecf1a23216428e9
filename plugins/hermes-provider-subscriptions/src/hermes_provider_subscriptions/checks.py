"""What doctor may ask: whether each login counts, and renews itself."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hermes_core.errors import HermesError
from hermes_core.types import Check, Finding
from hermes_provider_subscriptions.accounts import SERVICES, accounts_of, login_of, service_of

if TYPE_CHECKING:
    from hermes_core.context import PluginContext

__all__ = ["checks"]


def checks(ctx: "PluginContext") -> Sequence[Check]:
    """One check."""

    async def run() -> Sequence[Finding]:
        pairs = [(name, account) for name in SERVICES for account in accounts_of(ctx, name)]
        if not pairs:
            return [Finding(level="ok", text="Nobody is logged in to a subscription")]
        return await asyncio.gather(*(_found(ctx, name, account) for name, account in pairs))

    return [Check(name="logins", run=run)]


async def _found(ctx: "PluginContext", name: str, account: str) -> Finding:
    try:
        service = service_of(ctx, name)
        await login_of(ctx, service, account).bearer()
    except HermesError as error:
        return Finding(level="fault", text=error.text, fix=error.hint or f"{ctx.program} auth login {name}")
    return Finding(level="ok", text=f"The login {account} to {service.title} counts")
