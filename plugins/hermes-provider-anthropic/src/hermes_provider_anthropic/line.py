"""The line to one service that speaks the Messages protocol."""

from typing import TYPE_CHECKING

from attrs import field

from hermes_core.errors import UserError
from hermes_core.types import Endpoint
from hermes_core.values import frozen
from hermes_provider_anthropic.entry import Entry
from hermes_provider_kit.line import ServiceLine, reached
from hermes_provider_kit.transport import check_address, is_loopback

if TYPE_CHECKING:
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
        self.refused: set[str] = set()  # signatures the service no longer accepts

    def refuse(self, signatures: set[str]) -> None:
        """Keep in mind not to send these thoughts again."""
        if len(self.refused) > KEEP_REFUSED:
            self.refused.clear()
        self.refused |= signatures


@frozen(kw_only=True)
class Line(ServiceLine):
    """What the library's line has, and what is known of the service. ``state`` is what changes while it is used."""

    entry: Entry
    state: _State = field(factory=_State, repr=False, eq=False)

    def request_headers(self) -> dict[str, str]:
        """Headers for a call; the user's win. Raises AuthError when the key is missing or cannot be one."""
        self.require_key()
        key = {"x-api-key": self.service.key} if self.service.key else {}
        return self.headers_with({"anthropic-version": VERSION, **key})

    def require_key(self) -> None:
        """Refuse to ask a service without the key it needs. Raises AuthError."""
        if not self.service.local:
            self.need_key("authorization", "x-api-key")

    def spelled(self, model: str) -> str:
        """A model's name as the service writes it; elsewhere names are left alone."""
        if not (self.own and self.entry.dashes):
            return model
        return model.rsplit("/", 1)[-1].replace(".", "-")


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
    usual = LOCAL_SECONDS if local else HOSTED_SECONDS
    hint = f"Check base_url, now {url}: /v1/messages is added to it."
    return Line(
        entry=entry,
        **reached(entry, name, secrets, said, url=url, local=local, usual_seconds=usual, address_hint=hint),
    )
