"""The keys of rooms: one of ours to write with, those of others to read with."""

import json
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from attrs import field

from hermes_core.values import frozen
from hermes_platform_matrix.e2ee.account import MEGOLM, OwnDevice
from hermes_platform_matrix.e2ee.olm import Secret, Unreadable

if TYPE_CHECKING:
    from vodozemac import GroupSession, InboundGroupSession

__all__ = ["Megolm", "NoKey", "Plain"]

_DAY = 86_400.0


class NoKey(Unreadable):
    """The key of a message is not here yet. ``session`` is what to ask for."""

    def __init__(self, session: str) -> None:
        super().__init__("its key is not here")
        self.session = session


@frozen(kw_only=True)
class Plain:
    """A decrypted event."""

    type: str
    content: Mapping[str, Any] = field(repr=False)


class Megolm:
    """Room keys on the store of this device."""

    def __init__(self, own: OwnDevice) -> None:
        self._own, self._store = own, own.store
        self._in, self._out = f"{own.space}/in", f"{own.space}/out"
        self._seen, self._asked = f"{own.space}/seen", f"{own.space}/asked"

    # --- reading

    def learn(self, secret: Secret) -> tuple[str, str] | None:
        """Keep a room key that a device sent us for what it writes; gives room and session when it is of use."""
        from vodozemac import InboundGroupSession, SessionKey

        content = secret.content
        room, name = str(content.get("room_id", "")), str(content.get("session_id", ""))
        try:
            session = InboundGroupSession(SessionKey(str(content.get("session_key", ""))))
        except ValueError as error:
            raise Unreadable("the room key is none") from error
        if content.get("algorithm") != MEGOLM or session.session_id != name or not room:
            raise Unreadable("the room key is not what it says")
        return self._learn(room, session, secret.sender, secret.curve25519)

    def learn_forwarded(self, secret: Secret, *, trusted: bool) -> tuple[str, str] | None:
        """Keep a room key that was passed on because we asked. ``trusted``: by a signed device of our own account.

        Any other device can only pass on what its own person wrote.
        """
        from vodozemac import ExportedSessionKey, InboundGroupSession

        content = secret.content
        room, name = str(content.get("room_id", "")), str(content.get("session_id", ""))
        asked = self._store.get(self._asked, f"{room} {name}")
        if not asked or (not trusted and asked["sender"] != secret.sender):
            return None
        try:
            session = InboundGroupSession.import_session(ExportedSessionKey(str(content.get("session_key", ""))))
        except ValueError as error:
            raise Unreadable("the room key is none") from error
        if session.session_id != name:
            raise Unreadable("the room key is not what it says")
        return self._learn(room, session, asked["sender"], str(content.get("sender_key", "")))

    def _learn(self, room: str, session: "InboundGroupSession", sender: str, curve25519: str) -> tuple[str, str] | None:
        at = f"{room} {session.session_id}"
        known = self._store.get(self._in, at)
        if known and (known["sender"] != sender or known["first"] <= session.first_known_index):
            return None
        kept = {"pickle": session.pickle(self._own.key), "sender": sender, "curve25519": curve25519}
        self._store.put(self._in, at, {**kept, "first": session.first_known_index})
        return room, session.session_id

    def writer(self, room: str, event: Mapping[str, Any]) -> str:
        """The identity key of the device that an event's key came from; empty while the key is not here."""
        kept = self._store.get(self._in, f"{room} {event.get('content', {}).get('session_id')}")
        return str(kept["curve25519"]) if kept else ""

    def decrypt(self, room: str, event: Mapping[str, Any]) -> Plain:
        """What an encrypted event says. Raises NoKey when its key may still come, else Unreadable."""
        from vodozemac import InboundGroupSession, MegolmMessage

        content = event.get("content", {})
        name = content.get("session_id")
        if content.get("algorithm") != MEGOLM or not isinstance(name, str):
            raise Unreadable(f"it is encrypted in a way unknown here ({str(content.get('algorithm'))[:60]})")
        kept = self._store.get(self._in, f"{room} {name}")
        if kept is None:
            raise NoKey(name)
        if kept["sender"] != event.get("sender"):
            raise Unreadable("it was encrypted by somebody else than it says")
        try:
            message = MegolmMessage.from_base64(str(content.get("ciphertext", "")))
            if message.message_index() < kept["first"]:
                raise NoKey(name)
            opened = InboundGroupSession.from_pickle(kept["pickle"], self._own.key).decrypt(message)
            payload = json.loads(bytes(opened.plaintext))
            if payload["room_id"] != room:
                raise Unreadable("it was written in another room")
            plain = Plain(type=str(payload["type"]), content=dict(payload["content"]))
        except (KeyError, TypeError, ValueError) as error:
            raise Unreadable(str(error) or type(error).__name__) from error
        self._only_once(f"{room} {name} {opened.message_index}", event)
        return plain

    def _only_once(self, at: str, event: Mapping[str, Any]) -> None:
        """A homeserver must not be able to make a person say something a second time."""
        first = self._store.get(self._seen, at)
        if first is None:
            self._store.put(self._seen, at, event.get("event_id"))
        elif first != event.get("event_id"):
            raise Unreadable("it was played again")

    def ask_for(self, room: str, session: str, sender: str) -> bool:
        """Note that a key is asked for; False when it was asked for before."""
        if self._store.get(self._asked, f"{room} {session}"):
            return False
        self._store.put(self._asked, f"{room} {session}", {"sender": sender, "when": time.time()})
        return True

    # --- writing

    def key_for(self, room: str, allowed: Iterable[tuple[str, str]], rules: Mapping[str, Any]) -> dict[str, Any]:
        """The session to write with: a new one when the old one is used up, or known to a device not ``allowed``."""
        kept: dict[str, Any] | None = self._store.get(self._out, room)
        if kept is not None:
            age = time.time() - kept["made"]
            known = {(user, device) for user, device in kept["shared"]}
            longest = min(_number(rules, "rotation_period_ms", 7 * _DAY * 1000) / 1000, 30 * _DAY)
            most = min(_number(rules, "rotation_period_msgs", 100), 10_000)
            if 0 <= age < longest and kept["count"] < most and known <= set(allowed):
                return kept
        return self._new(room)

    def _new(self, room: str) -> dict[str, Any]:
        from vodozemac import GroupSession

        pickle = GroupSession().pickle(self._own.key)
        kept = {"pickle": pickle, "made": time.time(), "count": 0, "shared": []}
        self._store.put(self._out, room, kept)
        return kept

    def room_key(self, room: str, kept: Mapping[str, Any]) -> dict[str, Any]:
        """What a device needs to read what is written from now on."""
        session = self._opened(kept)
        key = {"session_id": session.session_id, "session_key": session.session_key.to_base64()}
        return {"algorithm": MEGOLM, "room_id": room, **key}

    def shared(self, room: str, kept: dict[str, Any], devices: Iterable[tuple[str, str]]) -> dict[str, Any]:
        """Note who has the key now."""
        kept = {**kept, "shared": [*kept["shared"], *(list(d) for d in devices)]}
        self._store.put(self._out, room, kept)
        return kept

    def encrypt(self, room: str, kept: Mapping[str, Any], kind: str, content: Mapping[str, Any]) -> dict[str, Any]:
        """The content of an ``m.room.encrypted`` event. The key has moved on, on disk, when it returns."""
        session = self._opened(kept)
        payload = {"room_id": room, "type": kind, "content": content}
        sealed = session.encrypt(json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode())
        self._store.put(self._out, room, {**kept, "pickle": session.pickle(self._own.key), "count": kept["count"] + 1})
        outer: dict[str, Any] = {
            "algorithm": MEGOLM,
            "ciphertext": sealed.to_base64(),
            "session_id": session.session_id,
            "sender_key": self._own.curve25519,
            "device_id": self._own.device,
        }
        if "m.relates_to" in content:  # servers join threads and edits by it, so it is not secret
            outer["m.relates_to"] = content["m.relates_to"]
        return outer

    def _opened(self, kept: Mapping[str, Any]) -> "GroupSession":
        from vodozemac import GroupSession

        return GroupSession.from_pickle(kept["pickle"], self._own.key)


def _number(rules: Mapping[str, Any], name: str, default: float) -> float:
    value = rules.get(name)
    return float(value) if isinstance(value, int) and not isinstance(value, bool) and value > 0 else default
