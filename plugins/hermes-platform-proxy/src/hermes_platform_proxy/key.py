"""The key that programs give to be let in. It opens this proxy alone, and no service knows it."""

import secrets
from hmac import compare_digest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hermes_core.brokers import SecretsBroker

__all__ = ["KEY", "fits", "key_of"]

KEY = "PROXY_SERVER_KEY"


def key_of(broker: "SecretsBroker", *, new: bool = False) -> str:
    """Return the key, which is made and kept where there is none (or a ``new`` one is wanted). Raises UserError."""
    key = "" if new else broker.get(KEY)
    if not key:
        key = f"hermes-proxy-{secrets.token_urlsafe(32)}"
        broker.set(KEY, key)
    return key


def fits(key: str, header: str) -> bool:
    """Tell whether an ``Authorization`` header has the key; it takes as long for any."""
    kind, _, given = header.partition(" ")
    return kind.lower() == "bearer" and compare_digest(given.strip().encode(), key.encode())
