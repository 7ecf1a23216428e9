"""The line to one service: where it is, with which key and headers, and the one HTTP client that talks to it."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from attrs import evolve, field

from hermes_core.errors import AuthError
from hermes_core.types import JSON, Endpoint
from hermes_core.values import frozen
from hermes_provider_kit.failures import Service
from hermes_provider_kit.transport import Connection, request_headers

if TYPE_CHECKING:
    import httpx2

    from hermes_core.brokers import SecretsBroker

__all__ = ["Known", "ServiceLine", "reached"]


class Known(Protocol):
    """What a catalogue knows of a service, as far as it matters for reaching it."""

    @property
    def name(self) -> str:
        """How settings name it."""

    @property
    def title(self) -> str:
        """How people name it."""

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other names of it."""

    @property
    def env(self) -> tuple[str, ...]:
        """The names of secrets that hold its key, the first that is set counts."""

    @property
    def signup(self) -> str:
        """Where a key is had."""

    @property
    def base_url(self) -> str:
        """Where it is; empty where the person must say it."""


@frozen(kw_only=True)
class ServiceLine:
    """What every protocol needs; one of a protocol adds its own.

    ``key`` is the provider's key in ``meta``; ``own`` says that it leads to the service of the catalogue itself.
    ``heard`` is told the headers of each answer, in lower case.
    """

    key: str
    service: Service
    connection: Connection = field(repr=False, eq=False)
    own: bool = True
    headers: Mapping[str, str] = field(factory=dict, repr=False)
    extra_body: Mapping[str, JSON] = field(factory=dict)
    stale_seconds: float
    context: int = 0
    heard: Callable[[Mapping[str, str]], None] | None = field(default=None, repr=False, eq=False)

    def client(self) -> "httpx2.AsyncClient":
        """Get the client, with its connections kept alive between calls."""
        return self.connection.client()

    def headers_with(self, *usual: Mapping[str, str]) -> dict[str, str]:
        """Put together the headers of a call; the user's win. Raises AuthError when the key cannot be one."""
        return request_headers(self.service, *usual, self.headers)

    def need_key(self, *headers: str) -> None:
        """Refuse to ask without a key, unless one of these headers is given. Raises AuthError."""
        if not self.service.key and not any(name.lower() in headers for name in self.headers):
            raise AuthError(f"{self.service.title} needs a key, and none is set.", hint=self.service.key_hint)

    def laid_over(self, body: Mapping[str, JSON]) -> dict[str, JSON]:
        """Lay the user's ``extra_body`` over a body: objects are put together, and a null takes a field away."""
        made = dict(body)
        for name, value in self.extra_body.items():
            if value is None:
                made.pop(name, None)
            elif isinstance(value, Mapping) and isinstance(before := made.get(name), Mapping):
                made[name] = {**before, **value}
            else:
                made[name] = value
        return made

    def about(self, model: str) -> Service:
        """Name the service with the model asked for, for messages."""
        return evolve(self.service, model=model)

    async def close(self) -> None:
        """Let go of the connections; the next call makes new ones."""
        await self.connection.close()


def reached(
    entry: Known,
    name: str,
    secrets: "SecretsBroker",
    said: Endpoint,
    *,
    url: str,
    local: bool,
    usual_seconds: float,
    address_hint: str = "",
) -> dict[str, Any]:
    """Put together what the catalogue, the environment and the user say of a service; the user wins.

    Args:
        entry: What the catalogue knows.
        name: How the configuration names the provider, which may be an alias or somebody's own name.
        secrets: Where a key is looked up that was not said.
        said: What the user set.
        url: The address, as ``check_address`` gives it.
        local: Whether it is on this machine, where no key is needed.
        usual_seconds: After how long a silence it is given up, where nothing else is said.
        address_hint: What to check when the address leads nowhere.

    Returns:
        The fields of a ServiceLine, by name.
    """
    known = name == entry.name or name in entry.aliases
    own = known or not said.base_url or not entry.base_url or url == entry.base_url
    variables = entry.env if own else ()  # a service's key goes to no stranger who only speaks like it
    key = said.api_key or next((found for found in map(secrets.get, variables) if found), "")
    stale_seconds = said.timeout or usual_seconds
    service = Service(
        title=entry.title if known else name,
        url=url,
        key=key.strip(),
        variables=variables,
        signup=entry.signup if own else "",
        local=local,
        address_hint=address_hint,
    )
    return {
        "key": entry.name if known else name,
        "service": service,
        "own": url == entry.base_url,
        "headers": said.headers,
        "extra_body": said.extra_body,
        "connection": Connection(url, stale_seconds),
        "stale_seconds": stale_seconds,
        "context": said.context,
    }
