"""The line to one service: where it is, with which key and headers, and the one HTTP client that talks to it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from attrs import evolve, field

from hermes_core.errors import AuthError, UserError
from hermes_core.types import JSON, Endpoint
from hermes_core.values import frozen
from hermes_provider_kit.failures import Service
from hermes_provider_kit.transport import Connection, check_address, is_loopback, request_headers
from hermes_provider_openai.entry import Entry

if TYPE_CHECKING:
    import httpx2

    from hermes_core.brokers import SecretsBroker

__all__ = ["HOSTED_SECONDS", "LOCAL_SECONDS", "Line", "open_line"]

HOSTED_SECONDS = 120.0
REASONING_SECONDS = 300.0  # a model may think for minutes before it says a word
LOCAL_SECONDS = 900.0  # a local server may read a long prompt for minutes before it says a word
ENDINGS = ("/chat/completions", "/completions", "/responses", "/models")


class _State:
    """What the server told while a line was used."""

    def __init__(self) -> None:
        self.usage_refused = False  # this server does not take stream_options
        self.default_model = ""  # what the server named first, for a request without a model


@frozen(kw_only=True)
class Line:
    """``key`` is the provider's key in ``meta``; ``own`` says that it leads to the service of the catalogue itself.

    ``state`` is what changes while the line is used.
    """

    key: str
    entry: Entry
    service: Service
    connection: Connection = field(repr=False, eq=False)
    protocol: str
    own: bool = True
    headers: Mapping[str, str] = field(factory=dict, repr=False)
    extra_body: Mapping[str, JSON] = field(factory=dict)
    stale_seconds: float = HOSTED_SECONDS
    context: int = 0
    state: _State = field(factory=_State, repr=False, eq=False)

    def client(self) -> "httpx2.AsyncClient":
        """The client, with its connections kept alive between calls."""
        return self.connection.client()

    def request_headers(self) -> dict[str, str]:
        """Headers for a call. Raises AuthError when the key is missing or cannot be one."""
        self.require_key()
        key = {"authorization": f"Bearer {self.service.key}"} if self.service.key else {}
        return request_headers(self.service, key, self.entry.headers, self.headers)

    def require_key(self) -> None:
        """Refuse to ask a service without the key it needs. Raises AuthError."""
        given = any(name.lower() in ("authorization", "api-key", "x-api-key") for name in self.headers)
        if self.entry.key_needed and not self.service.key and not given:
            raise AuthError(f"{self.entry.title} needs a key, and none is set.", hint=self.service.key_hint)

    def about(self, model: str) -> Service:
        """The service, with the model asked for, for messages."""
        return evolve(self.service, model=model)

    async def close(self) -> None:
        """Let go of the connections; the next call makes new ones."""
        await self.connection.close()


def open_line(entry: Entry, name: str, secrets: "SecretsBroker", endpoint: Endpoint | None) -> Line:
    """Put together what the catalogue, the environment and the user say; the user wins. Raises UserError."""
    said = endpoint or Endpoint(name=name)
    from_env = secrets.get(entry.base_url_env) if entry.base_url_env else ""
    url = said.base_url or from_env or entry.base_url
    if not url:
        raise UserError(
            f"Provider {name} needs an address.",
            hint=f"Set model.base_url (or providers.{name}.base_url) to the server's address, such as "
            "http://127.0.0.1:8000/v1.",
        )
    url = check_address(name, url, endings=ENDINGS, example="http://127.0.0.1:8000/v1")
    known = name == entry.name or name in entry.aliases
    own = known or not said.base_url or url == entry.base_url or not entry.base_url
    variables = entry.env if own else ()  # a service's key goes to no stranger who only speaks like it
    key = said.api_key or next((found for found in map(secrets.get, variables) if found), "")
    if said.protocol not in ("", "chat", "responses"):
        raise UserError(
            f"Provider {name} speaks no protocol called {said.protocol}.", hint="Set protocol to chat or responses."
        )
    local = entry.local or is_loopback(url)
    service = Service(
        title=entry.title if known else name,
        url=url,
        key=key.strip(),
        variables=variables,
        signup=entry.signup if own else "",
        local=local,
        address_hint=_address_hint(url),
    )
    usual = LOCAL_SECONDS if local else REASONING_SECONDS if entry.effort else HOSTED_SECONDS
    stale_seconds = said.timeout or usual
    return Line(
        key=entry.name if name in entry.aliases else name,
        entry=entry,
        service=service,
        protocol=said.protocol or entry.protocol,
        own=url == entry.base_url,
        headers=said.headers,
        extra_body=said.extra_body,
        connection=Connection(url, stale_seconds),
        stale_seconds=stale_seconds,
        context=said.context,
    )


def _address_hint(url: str) -> str:
    if url.endswith(("/v1", "/v2", "/v3", "/v4")):
        return ""
    return f"Check base_url: most servers want it to end with /v1, as in {url}/v1."
