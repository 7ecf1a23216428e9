"""This device: its identity, and the keys that others start a conversation with."""

from typing import TYPE_CHECKING, Any

from hermes_platform_matrix.e2ee.signing import signed
from hermes_platform_matrix.homeserver import Homeserver, path
from hermes_platform_matrix.store import AccountStore

if TYPE_CHECKING:
    from vodozemac import Account

__all__ = ["MEGOLM", "OLM", "OwnDevice"]

OLM = "m.olm.v1.curve25519-aes-sha2"
MEGOLM = "m.megolm.v1.aes-sha2"


class OwnDevice:
    """The identity of one device of one account. ``space`` is where on the store it lies; ``key`` seals it there.

    Raises ValueError when what lies there was sealed with another key.
    """

    def __init__(self, store: AccountStore, space: str, key: bytes, user: str, device: str) -> None:
        self.store, self.space, self.key, self.user, self.device = store, space, key, user, device
        self.account = self._load()
        self.curve25519 = self.account.curve25519_key.to_base64()
        self.ed25519 = self.account.ed25519_key.to_base64()

    def _load(self) -> "Account":
        from vodozemac import Account

        pickle = self.store.get(self.space, "account")
        if isinstance(pickle, str):
            return Account.from_pickle(pickle, self.key)
        account = Account()
        self.store.put(self.space, "account", account.pickle(self.key))
        return account

    def reload(self) -> None:
        """Take it as it is on the store: another process of this machine may have served the account until now."""
        self.account = self._load()

    def save(self) -> None:
        """Keep the account as it is now; after everything that used up or made a key."""
        self.store.put(self.space, "account", self.account.pickle(self.key))

    def sign(self, data: bytes) -> str:
        """A signature of this device."""
        return self.account.sign(data).to_base64()

    def signed(self, value: dict[str, Any]) -> dict[str, Any]:
        """The object, signed by this device."""
        return signed(value, self.user, f"ed25519:{self.device}", self.sign)

    @property
    def device_keys(self) -> dict[str, Any]:
        """What others know this device by."""
        return self.signed(
            {
                "user_id": self.user,
                "device_id": self.device,
                "algorithms": [OLM, MEGOLM],
                "keys": {f"curve25519:{self.device}": self.curve25519, f"ed25519:{self.device}": self.ed25519},
            }
        )

    @property
    def published(self) -> bool:
        """Whether the homeserver has its keys."""
        return bool(self.store.get(self.space, "published"))

    async def publish(self, server: Homeserver, *, there: int, fallback: bool) -> None:
        """Upload one-time keys until the server holds enough, and a new fallback key when there is none unused.

        ``there`` is how many it holds. The keys are on disk before others may use them. Raises Refused, Cut.
        """
        wanted = self.account.max_number_of_one_time_keys // 2
        body: dict[str, Any] = {}
        if not self.published:
            body["device_keys"] = self.device_keys
        if there < wanted:
            ready = len(self.account.one_time_keys)
            if ready < wanted - there:
                self.account.generate_one_time_keys(wanted - there - ready)
            body["one_time_keys"] = self._one_time_keys()
        if fallback:
            self.account.generate_fallback_key()  # type: ignore[attr-defined]  # its stubs lack it
            body["fallback_keys"] = self._fallback_keys()
        if not body:
            return
        self.save()
        await server.ask("POST", path("v3", "keys", "upload"), body)
        self.account.mark_keys_as_published()
        with self.store.together():
            self.save()
            self.store.put(self.space, "published", True)

    def _one_time_keys(self) -> dict[str, Any]:
        keys = self.account.one_time_keys.items()
        return {f"signed_curve25519:{n}": self.signed({"key": k.to_base64()}) for n, k in keys}

    def _fallback_keys(self) -> dict[str, Any]:
        keys = self.account.fallback_key.items()  # type: ignore[attr-defined]
        return {f"signed_curve25519:{n}": self.signed({"key": k.to_base64(), "fallback": True}) for n, k in keys}
