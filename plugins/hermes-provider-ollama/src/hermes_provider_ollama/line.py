"""Where Ollama is, and what it told of its models."""

from typing import TYPE_CHECKING

from attrs import field

from hermes_core.errors import UserError
from hermes_core.types import Endpoint
from hermes_core.values import frozen
from hermes_provider_kit.line import ServiceLine, reached
from hermes_provider_kit.listed import Listed
from hermes_provider_kit.transport import check_address, is_loopback

if TYPE_CHECKING:
    from hermes_core.brokers import SecretsBroker
    from hermes_provider_ollama.shown import Shown

__all__ = ["SERVICE", "Line", "open_line"]

SERVICE = Listed("ollama", (), 50, (), "http://127.0.0.1:11434", "OLLAMA_BASE_URL", "", local=True)
SECONDS = 900.0  # a model is loaded, and a long prompt read, before it says a word
ENDINGS = ("/v1/chat/completions", "/api/chat", "/v1", "/api")


@frozen
class _Known:
    """What is known of it, as the library wants it."""

    name: str = SERVICE.name
    title: str = "Ollama"
    aliases: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    signup: str = "https://ollama.com/download"
    base_url: str = SERVICE.base_url


@frozen(kw_only=True)
class Line(ServiceLine):
    """What the library's line has, what Ollama told of each model (``shown``), and the bytes of a token in it."""

    shown: "dict[str, Shown]" = field(factory=dict, eq=False)
    ratios: dict[str, float] = field(factory=dict, eq=False)

    def request_headers(self) -> dict[str, str]:
        """Headers for a call; a key is only for what stands before Ollama. Raises AuthError for what cannot be one."""
        return self.headers_with({"authorization": f"Bearer {self.service.key}"} if self.service.key else {})


def address_of(secrets: "SecretsBroker", endpoint: Endpoint | None) -> str:
    """Say where it is: what the user set, the environment, else its usual port."""
    return (endpoint.base_url if endpoint else "") or secrets.get(SERVICE.base_url_env) or SERVICE.base_url


def open_line(name: str, secrets: "SecretsBroker", endpoint: Endpoint | None) -> Line:
    """Put together what is known and what the user says; the user wins. Raises UserError."""
    said = endpoint or Endpoint(name=name)
    if said.protocol not in ("", "ollama"):
        raise UserError(
            f"Provider {name} speaks Ollama's own protocol and no other; it is set to {said.protocol}.",
            hint=f"Remove protocol from providers.{name}, or use `like: custom` there.",
        )
    url = check_address(name, address_of(secrets, endpoint), endings=ENDINGS, example=SERVICE.base_url)
    hint = f"Start it with `ollama serve`, or check base_url, now {url}: /api/chat is added to it."
    local = is_loopback(url)
    return Line(
        **reached(_Known(), name, secrets, said, url=url, local=local, usual_seconds=SECONDS, address_hint=hint)
    )
