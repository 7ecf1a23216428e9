"""The keys of the API: whose each one is."""

import hmac
import re
import secrets
from collections.abc import Mapping

from hermes_core.brokers import SecretsBroker
from hermes_core.errors import UserError

__all__ = ["MAIN", "Keys"]

MAIN = "API_SERVER_KEY"
_SHORTEST = 16
_PERSON = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")  # as everywhere; a person's own scopes are named behind a colon


class Keys:
    """Keys and the persons they stand for. Nothing in here shows a key but ``made``, the one that was just made."""

    def __init__(self, broker: SecretsBroker, others: Mapping[str, str]) -> None:
        """Read the keys; the owner's is made and kept when there is none. Raises UserError."""
        self.made = ""
        owners = broker.get(MAIN)
        if not owners:
            self.made = owners = f"hermes-{secrets.token_urlsafe(32)}"
            broker.set(MAIN, owners)
        self._keys = [(_sound(MAIN, owners), "")]
        for name, person in others.items():
            if not name.startswith(f"{MAIN}_"):
                raise UserError(f"platforms.api.keys: {name} must begin with {MAIN}_.", hint=f"Such as {MAIN}_ALICE.")
            if not _PERSON.fullmatch(person):
                raise UserError(f"platforms.api.keys.{name}: {person!r} cannot be a person's name.")
            if not (key := broker.get(name)):
                raise UserError(
                    f"platforms.api.keys names {name}, which is not set.", hint=f"hermes config set {name} …"
                )
            self._keys.append((_sound(name, key), person))
        if len({key for key, _ in self._keys}) < len(self._keys):
            raise UserError("Two keys of the API are the same, so it cannot tell two people apart.")

    def person(self, key: str) -> str | None:
        """Whose key this is; the owner is an empty string. None: nobody's. Takes as long whoever it is."""
        given, found = key.encode("utf-8", "replace"), None
        for known, person in self._keys:
            if hmac.compare_digest(known, given):
                found = person
        return found


def _sound(name: str, key: str) -> bytes:
    if len(key) < _SHORTEST or not key.isascii() or not key.isprintable() or " " in key:
        raise UserError(
            f"{name} is too weak: a key has at least {_SHORTEST} plain characters.",
            hint='Make one with: python3 -c "import secrets; print(secrets.token_urlsafe(32))"',
        )
    return key.encode()
