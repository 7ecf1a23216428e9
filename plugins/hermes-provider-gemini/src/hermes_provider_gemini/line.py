"""The service, and the line to it."""

from typing import TYPE_CHECKING

from hermes_core.errors import UserError
from hermes_core.types import Endpoint
from hermes_core.values import frozen
from hermes_provider_kit.line import ServiceLine, reached
from hermes_provider_kit.listed import Listed
from hermes_provider_kit.transport import check_address, is_loopback

if TYPE_CHECKING:
    from hermes_core.brokers import SecretsBroker

__all__ = ["SERVICE", "Line", "open_line"]

SERVICE = Listed(
    "gemini",
    ("google", "google-ai-studio"),
    10,
    ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "https://generativelanguage.googleapis.com/v1beta",
    "GEMINI_BASE_URL",
    "gemini-flash-latest",  # Google's own name for the newest one of its kind
)
HOSTED_SECONDS = 300.0  # models think for minutes, and say nothing meanwhile
LOCAL_SECONDS = 900.0


@frozen
class _Known:
    """What is known of the service, as the library wants it."""

    name: str = SERVICE.name
    title: str = "Google Gemini"
    aliases: tuple[str, ...] = SERVICE.aliases
    env: tuple[str, ...] = SERVICE.env
    signup: str = "https://aistudio.google.com/apikey"
    base_url: str = SERVICE.base_url


@frozen(kw_only=True)
class Line(ServiceLine):
    """What the library's line has, with the headers and addresses of this protocol."""

    def request_headers(self) -> dict[str, str]:
        """Headers for a call; the user's win. Raises AuthError when the key is missing or cannot be one."""
        self.require_key()
        return self.headers_with({"x-goog-api-key": self.service.key} if self.service.key else {})

    def require_key(self) -> None:
        """Refuse to ask the service without a key. Raises AuthError."""
        if not self.service.local:
            self.need_key("authorization", "x-goog-api-key")

    def url_of(self, model: str, verb: str) -> str:
        """Make the address of a model's method."""
        from urllib.parse import quote

        return f"{self.service.url}/models/{quote(spelled(model), safe='')}:{verb}"


def spelled(model: str) -> str:
    """Write a model's name as the service does: without its maker, and without ``models/``."""
    return model.rsplit("/", 1)[-1]


def open_line(name: str, secrets: "SecretsBroker", endpoint: Endpoint | None) -> Line:
    """Put together what is known and what the user says; the user wins. Raises UserError."""
    said = endpoint or Endpoint(name=name)
    if said.protocol not in ("", "gemini"):
        raise UserError(
            f"Provider {name} speaks the protocol of Gemini and no other; it is set to {said.protocol}.",
            hint=f"Remove protocol from providers.{name}.",
        )
    given = said.base_url or secrets.get(SERVICE.base_url_env) or SERVICE.base_url
    url = check_address(name, given, endings=("/models",), example=SERVICE.base_url)
    local = is_loopback(url)
    usual = LOCAL_SECONDS if local else HOSTED_SECONDS
    hint = f"Check base_url, now {url}: /models/NAME:streamGenerateContent is added to it."
    return Line(**reached(_Known(), name, secrets, said, url=url, local=local, usual_seconds=usual, address_hint=hint))
