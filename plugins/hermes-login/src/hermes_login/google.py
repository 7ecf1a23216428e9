"""What Google's credentials are exchanged for: a token for an hour, asked with what a file holds.

The file is of the type ``authorized_user``, as ``gcloud auth application-default login`` writes it, or
``service_account``, the key that a person made in the console (https://google.aip.dev/auth/4110, and
https://developers.google.com/identity/protocols/oauth2/service-account: RFC 7523). An address in the file is not
followed: what it holds is sent to the service's own one. A refresh token of Google stays good when it is used.
"""

import json
import time
from collections.abc import Mapping
from typing import Any, Self

from attrs import field

from hermes_core.errors import UserError
from hermes_core.values import frozen
from hermes_login.tokens import Tokens, is_token, is_value

__all__ = ["Credentials"]

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_SECONDS = 3600  # the longest that Google takes
_HINT = "gcloud auth application-default login, or name the key of a service account."


@frozen(kw_only=True)
class Credentials:
    """What a file holds: ``key`` of a service account that is called ``who``, or a person's ``refresh`` token."""

    who: str
    key: str = field(default="", repr=False)
    key_id: str = ""
    refresh: str = field(default="", repr=False)
    secret: str = field(default="", repr=False)

    @classmethod
    def read(cls, data: bytes) -> Self:
        """Read a file. Raises UserError for what is no such credentials, or of a type that is not known here."""
        try:
            found: Any = json.loads(data)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise UserError("The file holds no credentials of Google.", hint=_HINT)
        kind = found.get("type")
        if kind == "authorized_user":
            who, refresh, secret = (found.get(name) for name in ("client_id", "refresh_token", "client_secret"))
            if is_value(who) and is_token(refresh) and is_token(secret):
                return cls(who=str(who), refresh=str(refresh), secret=str(secret))
        elif kind == "service_account":
            who, key, key_id = (found.get(name) for name in ("client_email", "private_key", "private_key_id"))
            if is_value(who) and isinstance(key, str) and "PRIVATE KEY" in key:
                return cls(who=str(who), key=key, key_id=str(key_id) if is_value(key_id) else "")
        else:
            shown = kind if isinstance(kind, str) and is_value(kind) else "without a type"
            raise UserError(f"Credentials of Google of this kind are not known: {shown}.", hint=_HINT)
        raise UserError(f"The credentials of Google ({kind}) are not whole.", hint=_HINT)

    def as_tokens(self) -> Tokens:
        """Give them as tokens of which none is sent with requests."""
        return Tokens(access="", refresh=self.refresh, more=tuple(filter(None, (self.key, self.secret))))

    def form(self, token_url: str) -> Mapping[str, str]:
        """Return what is posted to ``token_url`` for a token. Raises UserError for a key that signs nothing."""
        if not self.key:
            return {
                "grant_type": "refresh_token",
                "client_id": self.who,
                "client_secret": self.secret,
                "refresh_token": self.refresh,
            }
        import jwt

        now, head = int(time.time()), {"kid": self.key_id} if self.key_id else {}
        claims = {"iss": self.who, "scope": _SCOPE, "aud": token_url, "iat": now, "exp": now + _SECONDS}
        try:
            signed = jwt.encode(claims, self.key, algorithm="RS256", headers=head)
        except (ValueError, TypeError, jwt.PyJWTError):
            raise UserError(f"The key of {self.who} cannot sign.", hint="Make a new one in Google's console.") from None
        return {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": signed}
