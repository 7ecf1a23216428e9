"""Tokens as a service gives them (RFC 6749, 5.1): read strictly, since they end in headers of requests."""

import json
import re
import time
from base64 import urlsafe_b64decode
from binascii import Error
from collections.abc import Mapping

from attrs import Factory, field

from hermes_core.errors import Unavailable
from hermes_core.types import JSON
from hermes_core.values import frozen
from hermes_login.service import LoginService

__all__ = ["Tokens", "ends_of", "is_token", "is_value", "place_of", "read_tokens"]

_TOKEN = re.compile(r"[\x21-\x7e]{8,16384}")  # RFC 6750 allows less; nothing here can end a header
_VALUE = re.compile(r"[\x21-\x7e]{1,256}")
_LONGEST = 10 * 365 * 86_400.0  # seconds; what is said to last longer has no end


@frozen(kw_only=True)
class Tokens:
    """What a login gave. ``ends`` is an instant in seconds since 1970, 0 where it is not known to end.

    ``place`` is where it counts, empty where nobody said. ``more`` are secrets beside it that no request carries.
    """

    access: str = field(repr=False)
    refresh: str = field(default="", repr=False)
    ends: float = 0.0
    headers: Mapping[str, str] = Factory(dict)
    place: str = ""
    more: tuple[str, ...] = field(default=(), repr=False)


def read_tokens(reply: Mapping[str, JSON], service: LoginService, before: Tokens | None = None) -> Tokens:
    """Read the answer of a token endpoint.

    Args:
        reply: What it said.
        service: Whose it is.
        before: What is renewed: what the answer leaves out stays, as its refresh token may (RFC 6749, 6).

    Raises:
        Unavailable: There is no token in it that can be sent.
    """
    access, refresh = reply.get("access_token"), reply.get("refresh_token")
    kind = reply.get("token_type", "bearer")
    if not is_token(access) or not isinstance(kind, str) or kind.lower() != "bearer":
        raise Unavailable(f"{service.title} sent no token that can be used.", transient=False)
    if refresh is not None and not is_token(refresh):
        raise Unavailable(f"{service.title} sent a refresh token that cannot be one.", transient=False)
    known = _claims_of(reply.get("id_token")), _claims_of(access)
    headers = {name: found for name, path in service.claims.items() if (found := _found(known, path))}
    return Tokens(
        access=str(access),
        refresh=str(refresh or (before.refresh if before else "")),
        ends=_ends(reply.get("expires_in")) or _instant(reply.get("expired_in")) or ends_of(str(access)),
        headers={**(before.headers if before else {}), **headers},
        place=place_of(reply.get(service.place), service) or (before.place if before else ""),
    )


def place_of(said: JSON, service: LoginService) -> str:
    """Return the address that a service names for its tokens, ending in ``/v1``; empty where it names none.

    Raises:
        Unavailable: It is not one of its own.
    """
    if not service.place or not isinstance(said, str) or not said:
        return ""
    url = said.rstrip("/") if "://" in said else f"https://{said.rstrip('/')}"
    if not is_value(url) or not service.may_have_tokens(url):
        raise Unavailable(f"{service.title} names a place that is not its own.", transient=False)
    return url if url.endswith("/v1") else f"{url}/v1"


def is_token(value: object) -> bool:
    """Tell whether a value can be a token: letters and signs that a header may hold, and not too many."""
    return isinstance(value, str) and _TOKEN.fullmatch(value) is not None


def is_value(value: object) -> bool:
    """Tell whether a value may stand in a header."""
    return isinstance(value, str) and _VALUE.fullmatch(value) is not None


def _claims_of(token: JSON) -> Mapping[str, JSON]:
    """Return what a JSON Web Token says of itself (RFC 7519), unchecked: it came from who made it. Else nothing."""
    parts = token.split(".") if isinstance(token, str) and len(token) < 65_536 else ()
    if len(parts) != 3:
        return {}
    try:
        found = json.loads(urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, Error, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def ends_of(token: str) -> float:
    """Return the end that a JSON Web Token says, in seconds since 1970; 0 where it says none."""
    ends = _claims_of(token).get("exp")
    return float(ends) if isinstance(ends, int | float) and not isinstance(ends, bool) and 0 < ends < 1e11 else 0.0


def _ends(seconds: JSON) -> float:
    if isinstance(seconds, str) and seconds.isascii() and seconds.isdigit() and len(seconds) < 12:
        seconds = int(seconds)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < _LONGEST:
        return 0.0
    return time.time() + seconds


def _instant(value: JSON) -> float:
    """Read an instant in milliseconds, or in seconds, since 1970."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1e9 < value < 1e14:
        return _ends(value)
    return value / 1000 if value > 1e11 else float(value)


def _found(known: tuple[Mapping[str, JSON], ...], path: tuple[str, ...]) -> str:
    for claims in known:
        value: JSON = claims
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if is_value(value):
            return str(value)
    return ""
