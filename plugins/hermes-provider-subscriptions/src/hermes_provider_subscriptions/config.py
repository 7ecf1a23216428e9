"""Which account of a service answers, and where a service is that is not where everybody's is."""

from collections.abc import Mapping
from typing import Any

from hermes_core.options import option, settings

__all__ = ["Config", "ServiceSettings"]


def _are_services(_config: Any, _field: Any, value: Mapping[str, Any]) -> None:
    """Refuse names that no service has: what is said under them would be heard by nobody."""
    from hermes_provider_subscriptions.accounts import SERVICES

    for name in value:
        if name not in SERVICES:
            raise ValueError(f"no service is called {name!r}; there is {', '.join(SERVICES)}")


@settings
class ServiceSettings:
    """What of a service is otherwise than its row says, as for a company's own GitHub, or an app of one's own."""

    client_id: str = option("Who Hermes is to its login.", default="", example="Iv1.0123456789abcdef")
    device_url: str = option("Where a login by a code begins.", default="")
    authorize_url: str = option("The page of a login with a browser.", default="")
    token_url: str = option("Where tokens are given and renewed.", default="")
    exchange_url: str = option("Where a login gives a token for minutes.", default="")
    base_url: str = option("Where models answer.", default="", example="https://copilot-api.example.ghe.com")
    hosts: list[str] = option(
        "The only hosts that get tokens; *. stands for the names below.", factory=list, example=["*.ghe.com"]
    )


@settings
class Config:
    """Logins of subscriptions."""

    accounts: dict[str, str] = option(
        "The account that answers first, by service; hermes auth list names them.",
        factory=dict,
        example={"copilot": "work"},
        validator=_are_services,
    )
    spread: bool = option(
        "Whether requests that run at once go to different accounts of a service, in all processes of this home.",
        default=False,
    )
    services: dict[str, ServiceSettings] = option(
        "Services that are elsewhere than usual, by name.",
        factory=dict,
        example={"copilot": {"client_id": "Iv1.0123456789abcdef"}},
        validator=_are_services,
    )
