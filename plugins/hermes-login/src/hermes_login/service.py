"""What is known of a service that people log in to: a row, a TOML file of ``services/`` each."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from attrs import Factory, field
from attrs.validators import min_len

from hermes_core.errors import UserError
from hermes_core.types import JSON
from hermes_core.values import frozen
from hermes_provider_kit.catalogue import made_of, read_row
from hermes_provider_kit.transport import is_loopback

__all__ = ["SERVICES", "LoginService", "load_service", "parse_service"]

SERVICES = Path(__file__).with_name("services")


def _is_safe(_service: Any, which: Any, value: str) -> None:
    """Refuse addresses over which tokens would be read on the way."""
    parts = urlsplit(value)
    if (value or which.name == "token_url") and not (
        parts.hostname and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(value)))
    ):
        raise ValueError("must begin with https://, but for this machine")


_NEEDS = {"device": "device_url", "browser": "authorize_url", "borrow": "token_url"}


def _has_its_addresses(service: "LoginService", _field: Any, value: str) -> None:
    if not getattr(service, _NEEDS[value]):
        raise ValueError(f"the flow {value} needs {_NEEDS[value]}")


@frozen(kw_only=True)
class LoginService:
    """What is known of one service.

    ``flow``: ``device`` shows a code that is typed into a page (RFC 8628), ``browser`` has a browser come back with
    one (RFC 6749 with PKCE, RFC 7636), to ``redirect_path`` on the first free one of ``redirect_ports``; ``borrow``
    has no login of its own, and reads that of another program. ``extra`` goes with the page's address, or with the
    question for a code. ``proof``: a code that is typed counts only with a key that this process made, too (RFC 7636).
    ``dialect = "user_code"``: the code itself is sent back under a grant of its own, and times are milliseconds.
    ``pages`` are hosts where codes may be typed beside that of ``device_url``. Without a ``client_id`` the service
    hands out none to others: a person makes an app of their own on ``register``. Where such an app has a secret, the
    secret's name is ``secret``. A refresh token may go in a header of its own, ``refresh_header``. ``place`` is the
    field in which the service says where a token counts. ``terms`` is what the service's terms say of other programs
    that do this; a person agrees to it first. ``sources`` say where the facts were read. A login that is not used
    itself but gives tokens for minutes has an ``exchange_url``; ``mints`` names the credentials of which such tokens
    are made, at ``token_url``. Models answer at ``base_url``. ``hosts`` are those that tokens may be sent to; ``*``
    stands for what may come before. ``claims`` are headers of requests, and where in the login's JSON Web Tokens their
    values stand. ``early`` seconds before its end a token is renewed. ``foreign``: whose token file may be read
    instead, with a person's yes.
    """

    name: str = field(validator=min_len(1))
    title: str = field(validator=min_len(1))
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    secret: str = ""
    register: str = ""
    scopes: tuple[str, ...] = ()
    device_url: str = field(default="", validator=_is_safe)
    authorize_url: str = field(default="", validator=_is_safe)
    token_url: str = field(validator=_is_safe)
    exchange_url: str = field(default="", validator=_is_safe)
    flow: Literal["device", "browser", "borrow"] = field(validator=_has_its_addresses)
    dialect: Literal["", "user_code"] = ""
    proof: bool = False
    pages: tuple[str, ...] = ()
    refresh_header: str = ""
    place: str = ""
    mints: Literal["", "google"] = ""
    redirect_ports: tuple[int, ...] = (0,)
    redirect_path: str = "/callback"
    extra: Mapping[str, str] = Factory(dict)
    headers: Mapping[str, str] = Factory(dict)
    claims: Mapping[str, tuple[str, ...]] = Factory(dict)
    base_url: str = field(default="", validator=_is_safe)
    hosts: tuple[str, ...] = ()
    early: float = 300.0
    foreign: Literal["", "claude", "codex", "gcloud", "gh", "qwen"] = ""
    terms: str = ""
    sources: tuple[str, ...] = ()

    @property
    def lends(self) -> bool:
        """Whether requests carry a token for minutes, which the login gives, and not the login itself."""
        return bool(self.exchange_url or self.mints)

    def client(self) -> Mapping[str, str]:
        """Return what says who asks (RFC 6749, 2.3.1). Raises UserError where the service hands out nothing to us."""
        if not self.client_id:
            raise UserError(
                f"{self.title} hands out no client of its own to Hermes.",
                hint=f"Make an app on {self.register}, and put its client_id into the settings.",
            )
        held = {"client_secret": self.client_secret} if self.client_secret else {}
        return {"client_id": self.client_id, **held}

    def may_have_tokens(self, url: str) -> bool:
        """Tell whether a token may be sent to an address: over TLS to one of ``hosts``, or to this machine if named."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        named = any(host == one or (one[:1] == "*" and host.endswith(one[1:])) for one in self.hosts)
        return named and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(url)))


def load_service(name: str, over: Mapping[str, JSON] | None = None) -> LoginService:
    """Read a row, with what a person says of the service laid ``over`` it. Raises OSError, ValueError."""
    return parse_service({**read_row(SERVICES, name), **(over or {})}, where=f"{name}.toml")


def parse_service(data: Mapping[str, JSON], *, where: str) -> LoginService:
    """Check a row against the fields above. Raises ValueError naming every problem."""
    return made_of(data, LoginService, where=where)
