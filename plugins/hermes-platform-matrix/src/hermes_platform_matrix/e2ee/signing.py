"""Canonical JSON, unpadded base64, and signatures over JSON."""

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["canonical", "decoded", "encoded", "is_signed", "signed"]


def canonical(value: Mapping[str, Any]) -> bytes:
    """The one way to write a JSON object, for signing."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def encoded(data: bytes, *, url: bool = False) -> str:
    """Unpadded base64."""
    return (base64.urlsafe_b64encode(data) if url else base64.b64encode(data)).rstrip(b"=").decode("ascii")


def decoded(text: str) -> bytes:
    """The bytes of base64, with or without padding, of either alphabet. Raises ValueError."""
    plain = text.strip().rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, UnicodeEncodeError) as error:
        raise ValueError("not base64") from error


def signed(value: Mapping[str, Any], user: str, key: str, sign: Callable[[bytes], str]) -> dict[str, Any]:
    """The object with one more signature: of ``user`` by ``key`` (``ed25519:DEVICE``)."""
    bare = {k: v for k, v in value.items() if k not in ("signatures", "unsigned")}
    signatures = {u: dict(s) for u, s in value.get("signatures", {}).items()}
    signatures.setdefault(user, {})[key] = sign(canonical(bare))
    return {**bare, "signatures": signatures}


def is_signed(value: Any, user: str, key: str, public: str) -> bool:
    """Whether the object carries a valid signature of ``user`` by ``key``, whose public half is given."""
    from vodozemac import Ed25519PublicKey, Ed25519Signature

    try:
        signature = Ed25519Signature.from_base64(value["signatures"][user][key])
        bare = {k: v for k, v in value.items() if k not in ("signatures", "unsigned")}
        Ed25519PublicKey.from_base64(public).verify_signature(canonical(bare), signature)
    except (KeyError, TypeError, AttributeError, ValueError):
        return False
    return True
