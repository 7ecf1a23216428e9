"""Whose devices have which keys. A key that changes is not believed."""

import logging
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import asdict

from hermes_core.values import frozen
from hermes_platform_matrix.e2ee.account import MEGOLM, OLM
from hermes_platform_matrix.e2ee.signing import is_signed
from hermes_platform_matrix.homeserver import Homeserver, path
from hermes_platform_matrix.store import AccountStore

__all__ = ["Device", "Devices", "own_key"]

_AT_ONCE = 100  # users in one query


@frozen(kw_only=True)
class Device:
    """A device of somebody. ``owned``: its owner's cross-signing identity vouches for it."""

    user: str
    id: str
    curve25519: str
    ed25519: str
    owned: bool = False


def own_key(keys: Any, user: str, usage: str) -> str:
    """The public key of a cross-signing key object, or an empty string when it is none of this user's."""
    if not isinstance(keys, Mapping) or keys.get("user_id") != user or usage not in keys.get("usage", ()):
        return ""
    public = [v for k, v in keys.get("keys", {}).items() if k == f"ed25519:{v}"]
    return str(public[0]) if len(public) == 1 else ""


class Devices:
    """Devices of people who share an encrypted room with us, kept fresh by what a sync says."""

    def __init__(self, store: AccountStore, space: str, me: tuple[str, str], log: logging.Logger) -> None:
        self._store, self._space, self._me, self._log = store, space, me, log

    def of(self, users: Iterable[str]) -> list[Device]:
        """Every known device of these users but ours."""
        found = [Device(**d) for u in users for d in self._devices(u).values()]
        return [d for d in found if (d.user, d.id) != self._me]

    def by_key(self, user: str, curve25519: str) -> Device | None:
        """The device of a user with this identity key."""
        return next((d for d in self.of([user]) if d.curve25519 == curve25519), None)

    def changed(self, lists: Mapping[str, Any]) -> None:
        """Note what a sync says: whose devices changed, and with whom no encrypted room is shared any more."""
        for user in (*lists.get("changed", ()), *lists.get("left", ())):
            if (known := self._store.get(self._space, user)) is not None:
                self._store.put(self._space, user, {**known, "fresh": False})

    async def refresh(self, server: Homeserver, users: Iterable[str]) -> None:
        """Ask for the devices of those whose list is not fresh. Raises Refused, Cut."""
        stale = [u for u in sorted(set(users)) if not self._fresh(u)]
        for start in range(0, len(stale), _AT_ONCE):
            some = stale[start : start + _AT_ONCE]
            with self._store.together():  # a change that comes in while we ask makes them stale again
                for user in some:
                    self._store.put(self._space, user, {"devices": self._devices(user), "fresh": True})
            try:
                body = {"device_keys": {u: [] for u in some}, "timeout": 10_000}
                answer = await server.ask("POST", path("v3", "keys", "query"), body)
            except BaseException:
                self.changed({"changed": some})
                raise
            self._learn(some, answer)

    def _learn(self, users: Iterable[str], answer: Mapping[str, Any]) -> None:
        away = set(answer.get("failures", {}))
        with self._store.together():
            for user in users:
                if user.partition(":")[2] in away:
                    self.changed({"changed": [user]})
                    continue
                vouching = self._vouching_key(user, answer)
                before = self._devices(user)
                found = {}
                for name, keys in dict(answer.get("device_keys", {}).get(user, {})).items():
                    device = self._device(user, name, keys, vouching, before.get(name))
                    if device:
                        found[name] = asdict(device)
                self._store.put(self._space, user, {"devices": found, "fresh": self._fresh(user)})

    def _device(
        self, user: str, name: str, keys: Any, vouching: str, before: Mapping[str, Any] | None
    ) -> Device | None:
        if not isinstance(keys, Mapping) or keys.get("user_id") != user or keys.get("device_id") != name:
            return None
        algorithms, public = keys.get("algorithms", ()), keys.get("keys", {})
        curve25519, ed25519 = public.get(f"curve25519:{name}"), public.get(f"ed25519:{name}")
        if MEGOLM not in algorithms or OLM not in algorithms or not curve25519 or not ed25519:
            return None
        if not is_signed(keys, user, f"ed25519:{name}", ed25519):
            self._log.warning("matrix: device %s of %s is not signed by itself; nothing is sent to it.", name, user)
            return None
        if before and (before["ed25519"], before["curve25519"]) != (ed25519, curve25519):
            self._log.warning("matrix: device %s of %s shows other keys than before; not believed.", name, user)
            return Device(**before)
        owned = bool(vouching) and is_signed(keys, user, f"ed25519:{vouching}", vouching)
        return Device(user=user, id=name, curve25519=curve25519, ed25519=ed25519, owned=owned)

    def _vouching_key(self, user: str, answer: Mapping[str, Any]) -> str:
        """The user's self-signing key, when their master key signed it."""
        master = own_key(answer.get("master_keys", {}).get(user), user, "master")
        keys = answer.get("self_signing_keys", {}).get(user)
        vouching = own_key(keys, user, "self_signing")
        return vouching if master and vouching and is_signed(keys, user, f"ed25519:{master}", master) else ""

    def _fresh(self, user: str) -> bool:
        return bool((self._store.get(self._space, user) or {}).get("fresh"))

    def _devices(self, user: str) -> dict[str, Any]:
        return dict((self._store.get(self._space, user) or {}).get("devices", {}))
