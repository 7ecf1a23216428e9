"""The line to one service that speaks OpenAI's protocols."""

from typing import TYPE_CHECKING

from attrs import field

from hermes_core.errors import UserError
from hermes_core.types import Endpoint
from hermes_core.values import frozen
from hermes_openai_wire.entry import Entry
from hermes_openai_wire.messages import Written
from hermes_provider_kit.line import ServiceLine, reached
from hermes_provider_kit.transport import check_address, is_loopback

if TYPE_CHECKING:
    from hermes_core.brokers import SecretsBroker

__all__ = ["HOSTED_SECONDS", "LOCAL_SECONDS", "Line", "open_line"]

HOSTED_SECONDS = 120.0
REASONING_SECONDS = 300.0  # a model may think for minutes before it says a word
LOCAL_SECONDS = 900.0  # a local server may read a long prompt for minutes before it says a word
BROKEN = 2
ENDINGS = ("/chat/completions", "/completions", "/responses", "/models")


class _State:
    """What the server told while a line was used."""

    def __init__(self) -> None:
        self.usage_refused = False  # this server does not take stream_options
        self.stream_refused = False  # nor streams
        self.broken = 0  # streams in a row that came to no end
        self.written = Written()


@frozen(kw_only=True)
class Line(ServiceLine):
    """What the library's line has, and the protocol spoken on it. ``state`` is what changes while the line is used."""

    entry: Entry
    protocol: str
    state: _State = field(factory=_State, repr=False, eq=False)

    def request_headers(self) -> dict[str, str]:
        """Headers for a call. Raises AuthError when the key is missing or cannot be one."""
        self.require_key()
        key = {"authorization": f"Bearer {self.service.key}"} if self.service.key else {}
        return self.headers_with(key, self.entry.headers)

    def whole(self) -> bool:
        """Whether a whole answer is asked for, and no stream: it has none, or two broke off one after the other."""
        return self.state.stream_refused or self.state.broken >= BROKEN

    def protocol_of(self, model: str) -> str:
        """The protocol by which a model is asked, or the provider that has it here."""
        names = (name for prefix, name in self.entry.wires.items() if model.lower().startswith(prefix))
        return next(names, self.protocol) if self.own and self.protocol == self.entry.protocol else self.protocol

    def require_key(self) -> None:
        """Refuse to ask a service without the key it needs. Raises AuthError."""
        if self.entry.key_needed:
            self.need_key("authorization", "api-key", "x-api-key")


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
    if said.protocol not in ("", "chat", "responses"):
        raise UserError(
            f"Provider {name} speaks no protocol called {said.protocol}.", hint="Set protocol to chat or responses."
        )
    local = entry.local or is_loopback(url)
    usual = LOCAL_SECONDS if local else REASONING_SECONDS if entry.effort else HOSTED_SECONDS
    fields = reached(
        entry, name, secrets, said, url=url, local=local, usual_seconds=usual, address_hint=_address_hint(url)
    )
    return Line(entry=entry, protocol=said.protocol or entry.protocol, **fields)


def _address_hint(url: str) -> str:
    if url.endswith(("/v1", "/v2", "/v3", "/v4")):
        return ""
    return f"Check base_url: most servers want it to end with /v1, as in {url}/v1."
