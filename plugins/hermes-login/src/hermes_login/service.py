"""What is known of a service that people log in to: a row, a TOML file of ``services/`` each."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from attrs import Factory, field
from attrs.validators import min_len

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


def _has_its_addresses(service: "LoginService", _field: Any, value: str) -> None:
    if not (service.device_url if value == "device" else service.authorize_url):
        raise ValueError(f"the flow {value} needs {'device_url' if value == 'device' else 'authorize_url'}")


@frozen(kw_only=True)
class LoginService:
    """What is known of one service.

    ``flow``: ``device`` shows a code that is typed into a page (RFC 8628), ``browser`` has a browser come back with
    one (RFC 6749 with PKCE, RFC 7636), to ``redirect_path`` on the first free one of ``redirect_ports``. ``extra`` goes
    with the page's address. ``terms`` is what the service's terms say of other programs that do this; a person agrees
    to it first. ``sources`` say where the facts were read. A login that is not used itself but gives tokens for
    minutes has an ``exchange_url``. ``hosts`` are those that tokens may be sent to; ``*.`` stands for the names below.
    ``claims`` are headers of requests, and where in the login's JSON Web Tokens their values stand. ``early`` seconds
    before its end a token is renewed. ``foreign``: whose token file may be read instead, with a person's yes.
    """

    name: str = field(validator=min_len(1))
    title: str = field(validator=min_len(1))
    client_id: str = field(validator=min_len(1))
    scopes: tuple[str, ...] = ()
    device_url: str = field(default="", validator=_is_safe)
    authorize_url: str = field(default="", validator=_is_safe)
    token_url: str = field(validator=_is_safe)
    exchange_url: str = field(default="", validator=_is_safe)
    flow: Literal["device", "browser"] = field(validator=_has_its_addresses)
    redirect_ports: tuple[int, ...] = (0,)
    redirect_path: str = "/callback"
    extra: Mapping[str, str] = Factory(dict)
    headers: Mapping[str, str] = Factory(dict)
    claims: Mapping[str, tuple[str, ...]] = Factory(dict)
    hosts: tuple[str, ...] = ()
    early: float = 300.0
    foreign: Literal["", "codex", "gh"] = ""
    terms: str = ""
    sources: tuple[str, ...] = ()

    def may_have_tokens(self, url: str) -> bool:
        """Tell whether a token may be sent to an address: over TLS to one of ``hosts``, or to this machine if named."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        named = any(host == one or (one[:2] == "*." and host.endswith(one[1:])) for one in self.hosts)
        return named and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(url)))


def load_service(name: str, over: Mapping[str, JSON] | None = None) -> LoginService:
    """Read a row, with what a person says of the service laid ``over`` it. Raises OSError, ValueError."""
    return parse_service({**read_row(SERVICES, name), **(over or {})}, where=f"{name}.toml")


def parse_service(data: Mapping[str, JSON], *, where: str) -> LoginService:
    """Check a row against the fields above. Raises ValueError naming every problem."""
    return made_of(data, LoginService, where=where)
