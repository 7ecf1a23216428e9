"""The line to one service: where it is, with which key and headers, and the one HTTP client that talks to it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from attrs import evolve, field

from hermes_core.errors import AuthError, UserError
from hermes_core.types import JSON, Endpoint
from hermes_core.values import frozen
from hermes_provider_anthropic.entry import Entry
from hermes_provider_kit.failures import Service
from hermes_provider_kit.transport import Connection, check_address, is_loopback, request_headers

if TYPE_CHECKING:
    import httpx2

    from hermes_core.brokers import SecretsBroker

__all__ = ["HOSTED_SECONDS", "LOCAL_SECONDS", "Line", "open_line"]

HOSTED_SECONDS = 300.0  # models think for minutes, and only keep the connection alive meanwhile
LOCAL_SECONDS = 900.0  # a local server may read a long prompt for minutes before it says a word
ENDINGS = ("/messages", "/models", "/v1")  # ``/v1/messages`` is added to the address
VERSION = "2023-06-01"  # of the Messages API; there is no newer one
KEEP_REFUSED = 4096


class _State:
    """What the service told while a line was used."""

    def __init__(self) -> None:
        self.default_model = ""  # what the service named first, for a request without a model
        self.refused: set[str] = set()  # signatures the service no longer accepts

    def refuse(self, signatures: set[str]) -> None:
        """Keep in mind not to send these thoughts again."""
        if len(self.refused) > KEEP_REFUSED:
            self.refused.clear()
        self.refused |= signatures


@frozen(kw_only=True)
class Line:
    """``key`` is the provider's key in ``meta``; ``own`` says that it leads to the service of the catalogue itself."""

    key: str
    entry: Entry
    service: Service
    connection: Connection = field(repr=False, eq=False)
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
        """Headers for a call; the user's win. Raises AuthError when the key is missing or cannot be one."""
        self.require_key()
        key = {"x-api-key": self.service.key} if self.service.key else {}
        return request_headers(self.service, {"anthropic-version": VERSION, **key}, self.headers)

    def require_key(self) -> None:
        """Refuse to ask a service without the key it needs. Raises AuthError."""
        given = any(name.lower() in ("authorization", "x-api-key") for name in self.headers)
        if not self.service.key and not given and not self.service.local:
            raise AuthError(f"{self.service.title} needs a key, and none is set.", hint=self.service.key_hint)

    def about(self, model: str) -> Service:
        """The service, with the model asked for, for messages."""
        return evolve(self.service, model=model)

    def spelled(self, model: str) -> str:
        """A model's name as the service writes it; elsewhere names are left alone."""
        if not (self.own and self.entry.dashes):
            return model
        return model.rsplit("/", 1)[-1].replace(".", "-")

    async def close(self) -> None:
        """Let go of the connections; the next call makes new ones."""
        await self.connection.close()


def open_line(entry: Entry, name: str, secrets: "SecretsBroker", endpoint: Endpoint | None) -> Line:
    """Put together what the catalogue, the environment and the user say; the user wins. Raises UserError."""
    said = endpoint or Endpoint(name=name)
    if said.protocol not in ("", "messages"):
        raise UserError(
            f"Provider {name} speaks the Messages protocol and no other; it is set to {said.protocol}.",
            hint=f"Remove protocol from providers.{name}.",
        )
    given = said.base_url or secrets.get(entry.base_url_env) or entry.base_url
    url = check_address(name, given, endings=ENDINGS, example="https://api.anthropic.com")
    local = is_loopback(url)
    known = name == entry.name or name in entry.aliases
    own = known or not said.base_url or url == entry.base_url
    variables = entry.env if own else ()  # a service's key goes to no stranger who only speaks like it
    key = said.api_key or next((found for found in map(secrets.get, variables) if found), "")
    stale_seconds = said.timeout or (LOCAL_SECONDS if local else HOSTED_SECONDS)
    return Line(
        key=entry.name if known else name,
        entry=entry,
        service=Service(
            title=entry.title if known else name,
            url=url,
            key=key.strip(),
            variables=variables,
            signup=entry.signup if own else "",
            local=local,
            address_hint=f"Check base_url, now {url}: /v1/messages is added to it.",
        ),
        own=url == entry.base_url,
        headers=said.headers,
        extra_body=said.extra_body,
        connection=Connection(url, stale_seconds),
        stale_seconds=stale_seconds,
        context=said.context,
    )
