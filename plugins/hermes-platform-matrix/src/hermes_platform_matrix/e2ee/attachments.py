"""Files of encrypted rooms: AES-256 in counter mode, with a hash of what is stored."""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from typing import Any

from hermes_platform_matrix.e2ee.signing import decoded, encoded

__all__ = ["opened", "sealed"]


def sealed(data: bytes) -> tuple[bytes, dict[str, Any]]:
    """What to upload, and the ``file`` object without its ``url`` that lets others read it."""
    key, start = secrets.token_bytes(32), secrets.token_bytes(8) + bytes(8)
    secret = _counter(key, start).encrypt(data)
    jwk = {"kty": "oct", "key_ops": ["encrypt", "decrypt"], "alg": "A256CTR", "k": encoded(key, url=True), "ext": True}
    digest = encoded(hashlib.sha256(secret).digest())
    return secret, {"v": "v2", "key": jwk, "iv": encoded(start), "hashes": {"sha256": digest}}


def opened(data: bytes, file: Mapping[str, Any]) -> bytes:
    """The bytes of an encrypted file. Raises ValueError when it is not what its sender stored."""
    try:
        key, start = decoded(file["key"]["k"]), decoded(file["iv"])
        wanted = decoded(file["hashes"]["sha256"])
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("the message does not say how the file is encrypted") from error
    if len(key) != 32 or len(start) != 16:
        raise ValueError("the message does not say how the file is encrypted")
    if not hmac.compare_digest(hashlib.sha256(data).digest(), wanted):
        raise ValueError("the file is not the one its sender stored")
    return bytes(_counter(key, start).decrypt(data))


def _counter(key: bytes, start: bytes) -> Any:
    from Crypto.Cipher import AES

    return AES.new(key, AES.MODE_CTR, nonce=b"", initial_value=start)
