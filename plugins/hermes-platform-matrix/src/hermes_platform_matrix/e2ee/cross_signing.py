"""Signing this device as the account's own. Clients leave out devices that nobody vouches for."""

import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from hermes_platform_matrix.e2ee.account import OwnDevice
from hermes_platform_matrix.e2ee.devices import own_key
from hermes_platform_matrix.e2ee.signing import decoded, encoded, is_signed, signed
from hermes_platform_matrix.homeserver import Homeserver, Refused, path

__all__ = ["BadRecoveryKey", "CrossSigning", "recovery_key_bytes", "unseal"]

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_STORED = "m.cross_signing.self_signing"
_USAGES = ("master", "self_signing", "user_signing")


class BadRecoveryKey(Exception):
    """The recovery key or phrase is not the one of the account."""


class CrossSigning:
    """The cross-signing identity of the own account. ``seeds`` is the space on the store for keys made here."""

    def __init__(self, own: OwnDevice, server: Homeserver, seeds: str) -> None:
        self._own, self._server, self._seeds = own, server, seeds

    async def sign_device(self, recovery_key: str, password: str) -> str:
        """See to it that this device is signed: an empty text, or why it is not. Raises BadRecoveryKey, Refused, Cut.

        The signing key is one made here, or comes out of the account's secret storage with the recovery key. An
        account that has no identity at all gets one.
        """
        user = self._own.user
        answer = await self._server.ask("POST", path("v3", "keys", "query"), {"device_keys": {user: []}})
        public = own_key(answer.get("self_signing_keys", {}).get(user), user, "self_signing")
        mine = answer.get("device_keys", {}).get(user, {}).get(self._own.device, {})
        if public and is_signed(mine, user, f"ed25519:{public}", public):
            return ""
        seed = await self._seed(public, recovery_key) if public else await self._make(answer, password)
        if seed is None:
            if public:
                return "the account has an identity already, and there is no recovery key to sign this device with"
            return "the homeserver wants the password of the account before it takes an identity for it"
        device = signed(self._own.device_keys, user, f"ed25519:{_public(seed)}", _signer(seed))
        where = path("v3", "keys", "signatures", "upload")
        done = await self._server.ask("POST", where, {user: {self._own.device: device}})
        return "the homeserver did not take the signature" if done.get("failures") else ""

    async def _seed(self, public: str, recovery_key: str) -> bytes | None:
        """The private half of the account's signing key, as far as we can get at it."""
        kept = self._kept("self_signing")
        if kept is not None and _public(kept) == public:
            return kept
        if not recovery_key:
            return None
        stored = await self._stored_seed(recovery_key)
        if _public(stored) != public:
            raise BadRecoveryKey("the secret storage of the account holds an older signing key")
        return stored

    def _kept(self, usage: str) -> bytes | None:
        kept = self._own.store.get(self._seeds, usage)
        return decoded(kept) if isinstance(kept, str) else None

    async def _make(self, answer: Mapping[str, Any], password: str) -> bytes | None:
        """Give the account an identity; None when the server asks for a password that is not here."""
        user = self._own.user
        if own_key(answer.get("master_keys", {}).get(user), user, "master"):
            return None
        with self._own.store.together():
            for usage in _USAGES:  # on disk first: an identity whose keys are lost would have to be reset by a person
                if self._kept(usage) is None:
                    self._own.store.put(self._seeds, usage, encoded(secrets.token_bytes(32)))
        seeds = {usage: self._kept(usage) or b"" for usage in _USAGES}
        body: dict[str, Any] = {"master_key": self._own.signed(_key_object(user, "master", seeds["master"]))}
        by, sign = f"ed25519:{_public(seeds['master'])}", _signer(seeds["master"])
        for usage in _USAGES[1:]:
            body[f"{usage}_key"] = signed(_key_object(user, usage, seeds[usage]), user, by, sign)
        where = path("v3", "keys", "device_signing", "upload")
        try:
            await self._server.ask("POST", where, body)
        except Refused as refused:
            if refused.status != 401 or "flows" not in refused.answer:
                raise
            if not password:
                return None
            identifier = {"type": "m.id.user", "user": user}
            auth = {"type": "m.login.password", "identifier": identifier, "password": password}
            auth["session"] = refused.answer.get("session", "")
            await self._server.ask("POST", where, {**body, "auth": auth})
        return seeds["self_signing"]

    async def _stored_seed(self, recovery_key: str) -> bytes:
        name = str((await self._account_data("m.secret_storage.default_key")).get("key", ""))
        description = await self._account_data(f"m.secret_storage.key.{name}") if name else {}
        if description.get("algorithm") != "m.secret_storage.v1.aes-hmac-sha2":
            raise BadRecoveryKey("the account has no secret storage that can be read here")
        key = recovery_key_bytes(recovery_key, description.get("passphrase"))
        box = (await self._account_data(_STORED)).get("encrypted", {}).get(name)
        if not isinstance(box, Mapping):
            raise BadRecoveryKey("the secret storage of the account holds no signing key")
        try:
            return decoded(unseal(key, _STORED, box).decode("ascii"))
        except ValueError as error:
            raise BadRecoveryKey("the secret storage of the account holds no signing key") from error

    async def _account_data(self, kind: str) -> dict[str, Any]:
        try:
            return await self._server.ask("GET", path("v3", "user", self._own.user, "account_data", kind))
        except Refused as refused:
            if refused.status == 404:
                return {}
            raise


def recovery_key_bytes(text: str, passphrase: Any = None) -> bytes:
    """The key behind a recovery key (``EsTc …``), or behind a phrase as ``passphrase`` says. Raises BadRecoveryKey."""
    number = 0
    plain = "".join(text.split())
    if plain and len(plain) < 100 and all(c in _ALPHABET for c in plain):
        for letter in plain:
            number = number * 58 + _ALPHABET.index(letter)
        data = number.to_bytes(max(35, (number.bit_length() + 7) // 8), "big")
        parity = 0
        for byte in data:
            parity ^= byte
        if len(data) == 35 and data[:2] == b"\x8b\x01" and parity == 0:
            return data[2:34]
    if isinstance(passphrase, Mapping) and passphrase.get("algorithm") == "m.pbkdf2":
        salt, rounds, bits = passphrase.get("salt"), passphrase.get("iterations"), passphrase.get("bits", 256)
        if isinstance(salt, str) and isinstance(rounds, int) and 0 < rounds <= 10_000_000 and bits == 256:
            return hashlib.pbkdf2_hmac("sha512", text.encode(), salt.encode(), rounds, 32)
    raise BadRecoveryKey("it is no recovery key")


def _key_object(user: str, usage: str, seed: bytes) -> dict[str, Any]:
    public = _public(seed)
    return {"user_id": user, "usage": [usage], "keys": {f"ed25519:{public}": public}}


def _keys(key: bytes, name: str) -> tuple[bytes, bytes]:
    """HKDF with SHA-256 and no salt: one key to encrypt with, one to authenticate with."""
    head = hmac.digest(bytes(32), key, "sha256")
    first = hmac.digest(head, name.encode() + b"\x01", "sha256")
    return first, hmac.digest(head, first + name.encode() + b"\x02", "sha256")


def unseal(key: bytes, name: str, box: Mapping[str, Any]) -> bytes:
    """A secret of the account's storage. Raises BadRecoveryKey."""
    from Crypto.Cipher import AES

    sealing, proving = _keys(key, name)
    try:
        secret, start, mac = (decoded(str(box[part])) for part in ("ciphertext", "iv", "mac"))
    except (KeyError, ValueError) as error:
        raise BadRecoveryKey("the secret storage of the account cannot be read") from error
    if not hmac.compare_digest(hmac.digest(proving, secret, "sha256"), mac) or len(start) != 16:
        raise BadRecoveryKey("it is not the recovery key of this account")
    return bytes(AES.new(sealing, AES.MODE_CTR, nonce=b"", initial_value=start).decrypt(secret))


def _public(seed: bytes) -> str:
    from Crypto.PublicKey import ECC

    return encoded(ECC.construct(curve="Ed25519", seed=seed).public_key().export_key(format="raw"))


def _signer(seed: bytes) -> Callable[[bytes], str]:
    from Crypto.PublicKey import ECC
    from Crypto.Signature import eddsa

    key = ECC.construct(curve="Ed25519", seed=seed)
    return lambda data: encoded(eddsa.new(key, "rfc8032").sign(data))
