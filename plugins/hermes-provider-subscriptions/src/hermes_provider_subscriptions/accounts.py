"""The services of this plugin, and the accounts that people are logged in with."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve

from hermes_core.errors import UnknownName, UserError
from hermes_provider_subscriptions.config import Config, ServiceSettings

if TYPE_CHECKING:
    from hermes_core.context import PluginContext
    from hermes_login.kept import Logins
    from hermes_login.renewing import Login
    from hermes_login.service import LoginService
    from hermes_openai_wire.entry import Entry

__all__ = [
    "ALIASES",
    "SERVICES",
    "accounts_of",
    "check_chosen",
    "entry_of",
    "login_of",
    "logins_of",
    "named",
    "said_of",
    "service_of",
]

ALIASES: Mapping[str, str] = {
    "github-copilot": "copilot",
    "openai-codex": "codex",
    "google-vertex": "vertex",
    "gcp-vertex": "vertex",
    "azure": "azure-foundry",
}
_SHORT = {"hf": "huggingface", "grok": "xai", "chatgpt": "codex"}  # for auth alone
SERVICES = (
    "copilot",
    "codex",
    "nous-oauth",
    "xai-oauth",
    "qwen-oauth",
    "minimax-oauth",
    "huggingface-oauth",
    "gemini-oauth",
    "vertex",
    "azure-foundry",
    "claude-oauth",
)
_OVER = ("client_id", "device_url", "authorize_url", "token_url", "exchange_url", "base_url", "hosts")
_ROWS = Path(__file__).with_name("rows")


def named(name: str) -> str:
    """Return the service that a person means. Raises UnknownName."""
    name = _SHORT.get(name, name)
    service = ALIASES.get(name, f"{name}-oauth" if f"{name}-oauth" in SERVICES else name)
    if service not in SERVICES:
        raise UnknownName("service with a login", name, SERVICES)
    return service


def logins_of(ctx: "PluginContext") -> "Logins":
    """Return what is kept; the folder lies among the plugin's data, which is closed to every tool."""
    from hermes_login.kept import Logins

    return Logins(ctx.paths.data / "logins")


def service_of(ctx: "PluginContext", name: str) -> "LoginService":
    """Return what is known of a service, with what the person says of it. Raises UserError."""
    from hermes_login.service import load_service

    try:
        service = load_service(name, said_of(ctx, name))
        return evolve(service, client_secret=ctx.secrets.get(service.secret)) if service.secret else service
    except ValueError as error:
        raise UserError(
            f"subscriptions.services.{name} cannot be: {error}", hint=f"{ctx.program} config edit"
        ) from None


def said_of(ctx: "PluginContext", name: str) -> Mapping[str, Any]:
    """Return what the person says of a service otherwise than its row does."""
    said = _said(ctx, name)
    return {one: found for one in _OVER if (found := getattr(said, one))}


def entry_of(ctx: "PluginContext", name: str) -> "Entry":
    """Return the row of its models; where they answer is said by that of its login."""
    from hermes_openai_wire.entry import parse_entry
    from hermes_provider_kit.catalogue import read_row

    entry = parse_entry(read_row(_ROWS, name), where=f"{name}.toml")
    return evolve(entry, base_url=service_of(ctx, name).base_url)


def accounts_of(ctx: "PluginContext", name: str) -> Sequence[str]:
    """Return the accounts of a service: the chosen one first, then those that stand in for it."""
    chosen = (ctx.config or Config()).accounts.get(name, "")
    return sorted(logins_of(ctx).accounts(name), key=lambda one: one != chosen)


def check_chosen(ctx: "PluginContext", name: str) -> None:
    """See that the account which the setting names is there, so that no other one answers. Raises UserError."""
    chosen, there = (ctx.config or Config()).accounts.get(name, ""), logins_of(ctx).accounts(name)
    if chosen and there and chosen not in there:
        raise UserError(
            f"subscriptions.accounts.{name} names {chosen}, and nobody is logged in as that.",
            hint=f"There is {', '.join(there)}. Or log in: {ctx.program} auth login {name} --as {chosen}",
        )


def login_of(ctx: "PluginContext", service: "LoginService", account: str) -> "Login":
    """Return one account, to be used."""
    from hermes_login.renewing import Login

    more = "" if account == "default" else f" --as {account}"
    return Login(service, logins_of(ctx), account, again=f"{ctx.program} auth login {service.name}{more}")


def _said(ctx: "PluginContext", name: str) -> ServiceSettings:
    said: ServiceSettings = (ctx.config or Config()).services.get(name) or ServiceSettings()
    return said
