"""All of end-to-end encryption behind a few calls."""

import asyncio
import logging
import time
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import uuid4

from hermes_platform_matrix.e2ee.account import MEGOLM, OwnDevice
from hermes_platform_matrix.e2ee.devices import Device, Devices
from hermes_platform_matrix.e2ee.megolm import Megolm, NoKey, Plain
from hermes_platform_matrix.e2ee.olm import Olm, Secret, Unreadable, to_device
from hermes_platform_matrix.homeserver import Cut, Homeserver, Refused

__all__ = ["Machine", "NoKey", "Plain", "Unreadable"]

_HOUR = 3600.0


class Machine:
    """Encrypts and decrypts for one device. What it learns is on the store before it is used."""

    def __init__(self, own: OwnDevice, server: Homeserver, log: logging.Logger, *, only_owned: bool = False) -> None:
        self.own, self._server, self._log, self._only_owned = own, server, log, only_owned
        self.devices = Devices(own.store, f"{own.space}/devices", (own.user, own.device), log)
        self._olm = Olm(own, log)
        self._megolm = Megolm(own)
        self._rooms: dict[str, asyncio.Lock] = {}

    async def take(self, sync: Mapping[str, Any]) -> set[tuple[str, str]]:
        """What a sync brings for encryption; gives the (room, session) whose keys came.

        Call it before the sync's token is used again: the server forgets what was taken. Raises Refused, Cut.
        """
        came: set[tuple[str, str]] = set()
        broken: list[tuple[str, str]] = []
        for event in sync.get("to_device", {}).get("events", ()):
            if event.get("type") != "m.room.encrypted":
                continue
            try:
                with self.own.store.together():
                    if found := self._take(self._olm.decrypt(event)):
                        came.add(found)
            except Unreadable as error:
                self._log.warning("matrix: a message of a device of %s cannot be read: %s", event.get("sender"), error)
                broken.append((str(event.get("sender")), str(event.get("content", {}).get("sender_key"))))
        with self.own.store.together():
            self.devices.changed(sync.get("device_lists", {}))
        counts = sync.get("device_one_time_keys_count", {})
        unused = sync.get("device_unused_fallback_key_types")
        await self.own.publish(
            self._server,
            there=int(counts.get("signed_curve25519", 0)),
            fallback=isinstance(unused, list) and "signed_curve25519" not in unused,
        )
        for sender, key in broken:
            await self._mend(sender, key)
        return came

    def _take(self, secret: Secret) -> tuple[str, str] | None:
        if secret.type == "m.room_key":
            return self._megolm.learn(secret)
        if secret.type == "m.forwarded_room_key":
            device = self.devices.by_key(secret.sender, secret.curve25519)
            ours = secret.sender == self.own.user and device is not None and device.owned
            return self._megolm.learn_forwarded(secret, trusted=ours)
        return None

    async def _mend(self, sender: str, curve25519: str) -> None:
        """Start a new session with a device whose messages cannot be read, at most once an hour."""
        last = self.own.store.get(f"{self.own.space}/mended", curve25519) or 0
        if abs(time.time() - last) < _HOUR:
            return
        self.own.store.put(f"{self.own.space}/mended", curve25519, time.time())
        try:
            await self.devices.refresh(self._server, [sender])
            if device := self.devices.by_key(sender, curve25519):
                await self._olm.send(self._server, [device], "m.dummy", {}, anew=True)
        except (Refused, Cut) as error:
            self._log.warning("matrix: no new session with a device of %s: %s", sender, error)

    async def decrypt(self, room: str, event: Mapping[str, Any]) -> Plain:
        """What an encrypted event of a room says. Raises NoKey, Unreadable; Refused, Cut."""
        writer = self._megolm.writer(room, event)
        if self._only_owned and writer:
            sender = str(event.get("sender"))
            await self.devices.refresh(self._server, [sender])
            device = self.devices.by_key(sender, writer)
            if device is None or not device.owned:
                raise Unreadable("it was written on a device that its owner has not signed")
        with self.own.store.together():
            return self._megolm.decrypt(room, event)

    async def request(self, room: str, event: Mapping[str, Any], session: str) -> None:
        """Ask the sender's devices and our own for the key of an event, once. Raises Refused, Cut."""
        sender = str(event.get("sender"))
        if not self._megolm.ask_for(room, session, sender):
            return
        body = {
            "algorithm": MEGOLM,
            "room_id": room,
            "session_id": session,
            "sender_key": str(event.get("content", {}).get("sender_key", "")),
        }
        content = {
            "action": "request",
            "body": body,
            "request_id": uuid4().hex,
            "requesting_device_id": self.own.device,
        }
        await to_device(self._server, "m.room_key_request", {u: {"*": content} for u in {sender, self.own.user}})

    async def encrypt(
        self, room: str, people: Iterable[str], rules: Mapping[str, Any], kind: str, content: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The content to send in an encrypted room, once every device of its people has the key.

        ``people`` are those who are in it or invited, ``rules`` the content of ``m.room.encryption``. A device without
        a key to start a session with is left out, and tried again next time. Raises Refused, Cut, Unreadable.
        """
        if rules.get("algorithm") != MEGOLM:
            raise Unreadable(f"the room is encrypted in a way unknown here ({str(rules.get('algorithm'))[:60]})")
        async with self._rooms.setdefault(room, asyncio.Lock()):
            users = {*people, self.own.user}
            await self.devices.refresh(self._server, users)
            wanted = [d for d in self.devices.of(users) if d.owned or not self._only_owned]
            kept = self._megolm.key_for(room, {_pair(d) for d in wanted}, rules)
            have = {(user, device) for user, device in kept["shared"]}
            missing = [d for d in wanted if _pair(d) not in have]
            if missing:
                key = self._megolm.room_key(room, kept)
                reached = await self._olm.send(self._server, missing, "m.room_key", key)
                kept = self._megolm.shared(room, kept, [_pair(d) for d in reached])
                if lost := len(missing) - len(reached):
                    self._log.warning("matrix: %d devices in %s have no keys left and cannot read this.", lost, room)
            return self._megolm.encrypt(room, kept, kind, content)


def _pair(device: Device) -> tuple[str, str]:
    return device.user, device.id
