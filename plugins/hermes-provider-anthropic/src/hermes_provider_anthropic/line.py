"""The line to one service: where it is, with which key and headers, and the one HTTP client that talks to it."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from hermes_core import __version__
from hermes_core.errors import AuthError, UserError
from hermes_core.failures import Service
from hermes_core.types import JSON, Endpoint
from hermes_provider_anthropic.entry import Entry
from hermes_provider_anthropic.transport import check_address, is_loopback, make_client

if TYPE_CHECKING:
    import httpx2

    from hermes_core.context import SecretsBroker

__all__ = ["HOSTED_SECONDS", "LOCAL_SECONDS", "Line", "open_line"]

HOSTED_SECONDS = 300.0  # models think for minutes, and only keep the connection alive meanwhile
LOCAL_SECONDS = 900.0  # a local server may read a long prompt for minutes before it says a word
VERSION = "2023-06-01"  # of the Messages API; there is no newer one
KEEP_REFUSED = 4096


class _State:
    """What changes while a line is used: its client, made for one event loop, and what the service told it."""

    def __init__(self) -> None:
        self.client: httpx2.AsyncClient | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
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
    own: bool = True
    headers: Mapping[str, str] = field(factory=dict, repr=False)
    extra_body: Mapping[str, JSON] = field(factory=dict)
    stale_seconds: float = HOSTED_SECONDS
    context: int = 0
    state: _State = field(factory=_State, repr=False, eq=False)

    def client(self) -> "httpx2.AsyncClient":
        """The client, with its connections kept alive between calls; another event loop gets another one."""
        loop = asyncio.get_running_loop()
        if self.state.client is None or self.state.loop is not loop:
            self.state.client = make_client(self.service.url, self.stale_seconds)
            self.state.loop = loop
        return self.state.client

    def request_headers(self) -> dict[str, str]:
        """Headers for a call; the user's win. Raises AuthError when the key is missing or cannot be one."""
        self.require_key()
        key = self.service.key
        if not key.isascii() or any(c.isspace() or not c.isprintable() for c in key):
            raise AuthError(
                f"The key for {self.service.title} holds characters no key has.", hint=self.service.key_hint
            )
        made = {
            "user-agent": f"Hermes/{__version__}",
            "content-type": "application/json",
            "anthropic-version": VERSION,
        }
        if key:
            made["x-api-key"] = key
        made.update({name.lower(): value for name, value in self.headers.items()})
        return made

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
        client, self.state.client = self.state.client, None
        if client is not None and self.state.loop is asyncio.get_running_loop():
            await client.aclose()


def open_line(entry: Entry, name: str, secrets: "SecretsBroker", endpoint: Endpoint | None) -> Line:
    """Put together what the catalogue, the environment and the user say; the user wins. Raises UserError."""
    said = endpoint or Endpoint(name=name)
    if said.wire not in ("", "messages"):
        raise UserError(
            f"Provider {name} speaks the Messages wire and no other; it is set to {said.wire}.",
            hint=f"Remove wire from providers.{name}.",
        )
    url = check_address(name, said.base_url or secrets.get(entry.base_url_env) or entry.base_url)
    local = is_loopback(url)
    known = name == entry.name or name in entry.aliases
    own = known or not said.base_url or url == entry.base_url
    variables = entry.env if own else ()  # a service's key goes to no stranger who only speaks like it
    key = said.api_key or next((found for found in map(secrets.get, variables) if found), "")
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
        stale_seconds=said.timeout or (LOCAL_SECONDS if local else HOSTED_SECONDS),
        context=said.context,
    )
