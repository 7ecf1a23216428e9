"""Which chats a person has: where they spoke, which one is home on a platform, where nothing can be delivered.

Everything that is ever sent on its own goes to one of these. A chat is known because its owner spoke there; what
nobody of ours has spoken in is no place to send to.
"""

import time
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from hermes_core.codec import clean
from hermes_core.database import READ, TablesTransaction, made
from hermes_core.errors import UnknownName
from hermes_core.types import Envelope, Principal
from hermes_platform_gateway.rows.tables import PLACE, Part, chats, equal, owned, place, put, unit
from hermes_platform_gateway.rows.values import KnownChat, Outgoing

__all__ = ["Chats", "revived", "seen_dead"]

_LONGEST_NAME = 100
_OWNED = ["profile", "person", *PLACE]


class Chats(Part):
    """The rows of who can be reached where."""

    @unit()
    def remember_chat(self, tx: TablesTransaction, owner: Principal, envelope: Envelope, *others: Principal) -> None:
        """Note where a message came from: for the owner of its conversation, and for who else said it there.

        A chat where one speaks is not dead.
        """
        name = envelope.chat_name or (envelope.sender_name if envelope.kind == "dm" else "")
        name = " ".join("".join(c if c.isprintable() else " " for c in clean(name)).split())[:_LONGEST_NAME]
        told = {"kind": envelope.kind, "sender": clean(envelope.sender), "seen": time.time()}
        for one in dict.fromkeys((owner, *others)):
            known = {**told, "name": name} if name else told  # a name that is known stays
            tx.execute(put(chats, _OWNED, **owned(one), **place(envelope), **known))
        tx.execute(sa.update(chats).where(equal(chats, **place(envelope)), chats.c.dead != "").values(dead=""))

    @unit(READ)
    def list_chats(self, tx: TablesTransaction, owner: Principal | None, *, platform: str = "") -> list[KnownChat]:
        """The chats of an owner, last used first; of everybody without one: only for who runs the gateway."""
        wanted = {**(owned(owner) if owner else {}), **({"platform": clean(platform)} if platform else {})}
        rows = sa.select(chats).where(equal(chats, **wanted)).order_by(chats.c.seen.desc(), chats.c.id.desc())
        return [_chat(row) for row in tx.execute(rows)]

    @unit(READ)
    def at(self, tx: TablesTransaction, owner: Principal, envelope: Envelope) -> KnownChat | None:
        """The chat that a message of an owner came from, when it is known."""
        rows = tx.execute(sa.select(chats).where(equal(chats, **owned(owner), **place(envelope))))
        return _chat(rows[0]) if rows else None

    @unit(READ)
    def is_known(self, tx: TablesTransaction, envelope: Envelope) -> bool:
        """Whether anybody wrote in a group before; of a message in a thread, in any thread of the group."""
        here = equal(chats, **{name: clean(getattr(envelope, name)) for name in ("platform", "account", "chat")})
        alike = chats.c.thread != "" if envelope.thread else chats.c.thread == ""
        return bool(list(tx.execute(sa.select(chats.c.id).where(here, alike).limit(1))))

    @unit()
    def set_home(self, tx: TablesTransaction, owner: Principal, chat: KnownChat) -> None:
        """Make a chat its owner's home on its platform, instead of the one before. Raises UnknownName."""
        there = equal(chats, **owned(owner), platform=clean(chat.platform))
        tx.execute(sa.update(chats).where(there).values(home=0))
        if not tx.execute(sa.update(chats).where(equal(chats, **owned(owner), **place(chat))).values(home=1)).changed:
            raise UnknownName("chat", chat.address)


def revived(tx: TablesTransaction, outgoing: Outgoing) -> None:
    """Note that something arrived in its owner's chat."""
    dead = equal(chats, **_goes_to(outgoing)) & (chats.c.dead != "")
    tx.execute(sa.update(chats).where(dead).values(dead=""))


def seen_dead(tx: TablesTransaction, outgoing: Outgoing, why: str) -> None:
    """Note that nothing arrives in its owner's chat."""
    tx.execute(put(chats, _OWNED, **_goes_to(outgoing), dead=why))


def _goes_to(outgoing: Outgoing) -> dict[str, str]:
    where = (outgoing.platform, outgoing.account, outgoing.chat.id, outgoing.chat.thread)
    return {**owned(outgoing.owner), **dict(zip(PLACE, map(clean, where), strict=True))}


def _chat(row: Mapping[str, Any]) -> KnownChat:
    return made(KnownChat, row, owner=Principal(profile=row["profile"], person=row["person"]), home=bool(row["home"]))
