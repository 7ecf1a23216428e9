"""How each service is set up: a person logs in, and its list of models is the test."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from hermes_core.errors import UserError
from hermes_core.kinds import LoginPrompt, SetupField, SetupStep
from hermes_provider_subscriptions.accounts import SERVICES, accounts_of, service_of

if TYPE_CHECKING:
    from hermes_core.context import PluginContext

__all__ = ["Step", "all_steps"]


class Step(SetupStep):
    """One service. A login is kept under a new name; it is used once that name is written to the settings."""

    login_label = "in a browser"

    def __init__(self, ctx: "PluginContext", name: str) -> None:
        self._ctx, self.name = ctx, name
        known = next(iter(accounts_of(ctx, name)), "default")
        text = f"Account ({ctx.program} auth list shows them)"
        key = f"subscriptions.accounts.{name}"
        self.fields = (SetupField("account", text, key, default=known, check=_checked),)

    async def login(self, show: Callable[[LoginPrompt], Awaitable[str]]) -> Mapping[str, str]:
        """Have a person log in. Raises HermesError."""
        from hermes_provider_subscriptions.entering import entered, free_name

        account = free_name(self._ctx, self.name)
        await entered(self._ctx, self.name, account, show)
        return {"account": account}

    async def test(self, values: Mapping[str, str]) -> str:
        """Ask for its models by that account. Raises HermesError."""
        from hermes_provider_subscriptions.provider import Subscription

        account = values.get("account") or "default"
        provider = Subscription(self._ctx, self.name, account=account)
        try:
            found = await provider.models()
        finally:
            await provider.close()
        title = service_of(self._ctx, self.name).title
        return f"{title} has {len(found)} model{'' if len(found) == 1 else 's'} for {account}."


def all_steps(ctx: "PluginContext") -> Sequence[SetupStep]:
    """Make a step for each service."""
    return [Step(ctx, name) for name in SERVICES]


def _checked(text: str) -> str:
    from pathlib import Path

    from hermes_login.kept import Logins

    try:
        Logins(Path()).path("codex", text)
    except UserError as error:
        return error.text
    return ""
