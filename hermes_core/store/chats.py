"""Which chats a person has: where they spoke, which one is home on a platform, where nothing can be delivered.

Everything that is ever sent on its own goes to one of these. A chat is known because its owner spoke there; what
nobody of ours has spoken in is no place to send to.
"""

import json
import sqlite3
import time

from attrs import Factory

from hermes_core.database import READ, Transaction
from hermes_core.errors import UnknownName
from hermes_core.store.codec import clean
from hermes_core.store.sessions import Sessions, get_session, made, owner_number, owner_row, transaction
from hermes_core.types import Envelope, Principal
from hermes_core.values import frozen

__all__ = ["Chats", "KnownChat", "remember"]

_LONGEST_NAME = 100
_PLACE = ("platform", "account", "chat", "thread")


@frozen(kw_only=True)
class KnownChat:
    """A chat of ``owner``, who is ``sender`` there and speaks with the bot ``account``.

    ``home`` marks the one chat of its platform for what has no other place to go. ``dead`` says why nothing can be
    delivered there; ``seen`` is in seconds since 1970.
    """

    owner: Principal = Factory(Principal)
    platform: str
    account: str = ""
    chat: str
    thread: str = ""
    kind: str = "dm"
    name: str = ""
    sender: str = ""
    home: bool = False
    dead: str = ""
    seen: float = 0.0

    @property
    def address(self) -> str:
        """How it is named as a target: ``PLATFORM:CHAT[:THREAD]``."""
        return ":".join(part for part in (self.platform, self.chat, self.thread) if part)


def remember(tx: Transaction, owner: int, envelope: Envelope) -> None:
    """Note, in the transaction that stores a message, where it came from; a chat where one speaks is not dead."""
    name = envelope.chat_name or (envelope.sender_name if envelope.kind == "dm" else "")
    name = " ".join("".join(c if c.isprintable() else " " for c in clean(name)).split())[:_LONGEST_NAME]
    told = {"kind": envelope.kind, "name": name, "sender": clean(envelope.sender)}
    tx.change("chat_seen", owner=owner, **_of(envelope), **told, seen=time.time())
    tx.change("chat_dead", **_of(envelope), dead="")


class Chats(Sessions):
    """The part of the store that knows where people can be reached."""

    @transaction()
    def remember_chat(self, tx: Transaction, owner: Principal, envelope: Envelope, *others: Principal) -> None:
        """Note where a message came from: for the owner of its conversation, and for who else said it there."""
        for one in dict.fromkeys((owner, *others)):
            remember(tx, owner_row(tx, one), envelope)

    @transaction(READ)
    def list_chats(self, tx: Transaction, owner: Principal | None, *, platform: str = "") -> list[KnownChat]:
        """The chats of an owner, last used first; of everybody without one: only for who runs the gateway."""
        number = owner_number(tx, owner) if owner else 0
        rows = tx.rows("chats_list", owner=number, every=owner is None, platform=clean(platform))
        return [_chat(row) for row in rows]

    @transaction()
    def set_home(self, tx: Transaction, owner: Principal, chat: KnownChat) -> None:
        """Make a chat its owner's home on its platform, instead of the one before. Raises UnknownName."""
        number = owner_number(tx, owner)
        tx.change("chat_homeless", owner=number, platform=clean(chat.platform))
        if not tx.change("chat_home", owner=number, **_of(chat)).rowcount:
            raise UnknownName("chat", chat.address)

    @transaction()
    def mark_dead(self, tx: Transaction, chat: KnownChat, why: str) -> None:
        """Note that nothing can be delivered in a chat, for everybody who has it, until somebody speaks there again."""
        tx.change("chat_dead", **_of(chat), dead=clean(why))

    @transaction(READ)
    def origin_of(self, tx: Transaction, session_id: str, owner: Principal) -> KnownChat | None:
        """The chat that a session's last turn was asked for in; None when that was no chat. Raises UnknownName."""
        get_session(tx, session_id, owner)
        row = tx.row("chat_asked", session_id=session_id)
        if row is None or not row["envelope"]:
            return None
        said = json.loads(row["envelope"])
        place = {name: clean(str(said.get(name) or "")) for name in _PLACE}
        found = tx.row("chat_get", owner=owner_number(tx, owner), **place)
        return _chat(found) if found else None


def _of(place: Envelope | KnownChat) -> dict[str, str]:
    return {name: clean(getattr(place, name)) for name in _PLACE}


def _chat(row: sqlite3.Row) -> KnownChat:
    return made(KnownChat, row, owner=Principal(profile=row["profile"], person=row["person"]), home=bool(row["home"]))
