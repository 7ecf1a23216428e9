"""Secret messages from device to device: how room keys travel."""

import asyncio
import json
import logging
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from attrs import field

from hermes_core.values import frozen
from hermes_platform_matrix.e2ee.account import OLM, OwnDevice
from hermes_platform_matrix.e2ee.devices import Device
from hermes_platform_matrix.e2ee.signing import decoded, encoded, is_signed
from hermes_platform_matrix.homeserver import Homeserver, path

if TYPE_CHECKING:
    from vodozemac import Session

__all__ = ["Olm", "Secret", "Unreadable", "to_device"]

_KEPT = 5  # sessions with one device; others may still use an older one
_AT_ONCE = 50  # devices in one request


class Unreadable(Exception):
    """A message that cannot be decrypted, or is not what it says."""


@frozen(kw_only=True)
class Secret:
    """What came through Olm: surely from the device with these keys."""

    type: str
    content: Mapping[str, Any] = field(repr=False)
    sender: str
    curve25519: str
    ed25519: str


class Olm:
    """The sessions of this device with others."""

    def __init__(self, own: OwnDevice, log: logging.Logger) -> None:
        self._own, self._store, self._log = own, own.store, log
        self._space = f"{own.space}/olm"
        self._busy = asyncio.Lock()

    def decrypt(self, event: Mapping[str, Any]) -> Secret:
        """What a device sent to us. Call it inside ``AccountStore.together``. Raises Unreadable."""
        content = event.get("content", {})
        sealed = content.get("ciphertext", {})
        sealed = sealed.get(self._own.curve25519) if isinstance(sealed, Mapping) else None
        sender_key = content.get("sender_key")
        if content.get("algorithm") != OLM or not isinstance(sealed, Mapping) or not isinstance(sender_key, str):
            raise Unreadable("it is not for this device")
        try:
            payload = json.loads(self._opened(sender_key, int(sealed["type"]), str(sealed["body"])))
            told = (payload["sender"], payload["recipient"], payload["recipient_keys"]["ed25519"])
            if told != (event.get("sender"), self._own.user, self._own.ed25519):
                raise Unreadable("it was made by, or for, somebody else")
            return Secret(
                type=str(payload["type"]),
                content=dict(payload["content"]),
                sender=str(payload["sender"]),
                curve25519=sender_key,
                ed25519=str(payload["keys"]["ed25519"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise Unreadable(str(error) or type(error).__name__) from error

    async def send(
        self,
        server: Homeserver,
        devices: Sequence[Device],
        kind: str,
        content: Mapping[str, Any],
        *,
        anew: bool = False,
    ) -> list[Device]:
        """Send to each device; gives those it went to. ``anew`` starts sessions over. Raises Refused, Cut."""
        reached: list[Device] = []
        async with self._busy:
            for start in range(0, len(devices), _AT_ONCE):
                some = devices[start : start + _AT_ONCE]
                await self._meet(server, [d for d in some if anew or not self._sessions(d.curve25519)])
                messages: dict[str, dict[str, Any]] = {}
                with self._store.together():
                    for device in some:
                        if sealed := self._sealed(device, kind, content):
                            messages.setdefault(device.user, {})[device.id] = sealed
                            reached.append(device)
                if messages:
                    await to_device(server, "m.room.encrypted", messages)
        return reached

    async def _meet(self, server: Homeserver, devices: Sequence[Device]) -> None:
        """Start a session with each device that still has a key to start one with."""
        if not devices:
            return
        wanted: dict[str, dict[str, str]] = {}
        for device in devices:
            wanted.setdefault(device.user, {})[device.id] = "signed_curve25519"
        answer = await server.ask("POST", path("v3", "keys", "claim"), {"one_time_keys": wanted, "timeout": 10_000})
        given = answer.get("one_time_keys", {})
        with self._store.together():
            for device in devices:
                for key in dict(given.get(device.user, {}).get(device.id, {})).values():
                    self._begin(device, key)

    def _begin(self, device: Device, key: Any) -> None:
        from vodozemac import Curve25519PublicKey

        if not is_signed(key, device.user, f"ed25519:{device.id}", device.ed25519):
            self._log.warning("matrix: a key of device %s of %s is not its own; not used.", device.id, device.user)
            return
        try:
            identity, once = (Curve25519PublicKey.from_base64(k) for k in (device.curve25519, str(key["key"])))
            session = self._own.account.create_outbound_session(identity, once)
        except (ValueError, KeyError) as error:
            self._log.warning("matrix: no session with device %s of %s: %s", device.id, device.user, error)
            return
        self._keep(device.curve25519, session)

    def _sealed(self, device: Device, kind: str, content: Mapping[str, Any]) -> dict[str, Any] | None:
        sessions = self._sessions(device.curve25519)
        if not sessions:
            return None
        payload = {
            "type": kind,
            "content": content,
            "sender": self._own.user,
            "sender_device": self._own.device,
            "keys": {"ed25519": self._own.ed25519},
            "recipient": device.user,
            "recipient_keys": {"ed25519": device.ed25519},
        }
        message = sessions[0].encrypt(json.dumps(payload).encode())
        self._keep(device.curve25519, sessions[0])
        number, body = message.to_parts()
        return {
            "algorithm": OLM,
            "sender_key": self._own.curve25519,
            "ciphertext": {device.curve25519: {"type": number, "body": encoded(body)}},
        }

    def _opened(self, sender_key: str, number: int, body: str) -> bytes:
        from vodozemac import AnyOlmMessage, Curve25519PublicKey

        message = AnyOlmMessage.from_parts(number, decoded(body))
        first = message.to_pre_key()
        for session in self._sessions(sender_key):
            if first is not None and not session.session_matches(first):
                continue
            try:
                plain = session.decrypt(message)
            except ValueError:
                if first is not None:
                    raise
                continue
            self._keep(sender_key, session)
            return bytes(plain)
        if first is None:
            raise Unreadable("no session with its device fits")
        made, plain = self._own.account.create_inbound_session(Curve25519PublicKey.from_base64(sender_key), first)
        self._own.save()
        self._keep(sender_key, made)
        return bytes(plain)

    def _sessions(self, curve25519: str) -> list["Session"]:
        """The sessions with a device, last used first."""
        from vodozemac import Session

        kept = self._store.get(self._space, curve25519) or []
        return [Session.from_pickle(pickle, self._own.key) for _, _, pickle in kept]

    def _keep(self, curve25519: str, session: "Session") -> None:
        kept = [s for s in self._store.get(self._space, curve25519) or [] if s[0] != session.session_id]
        new = [session.session_id, time.time(), session.pickle(self._own.key)]
        self._store.put(self._space, curve25519, [new, *kept][:_KEPT])


async def to_device(server: Homeserver, kind: str, messages: Mapping[str, Mapping[str, Any]]) -> None:
    """Hand messages to devices, by user and device (``*`` is every one). Raises Refused, Cut."""
    await server.ask("PUT", path("v3", "sendToDevice", kind, uuid4().hex), {"messages": messages})
