"""The rows of what is shared. Each method is one transaction."""

import secrets
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from attrs import evolve

from hermes_core.codec import clean
from hermes_core.database import READ, StoreBroker, TablesTransaction, made
from hermes_core.errors import UserError
from hermes_tool_kit.units import unit
from hermes_tool_shared.values import Item, Member, Share

__all__ = ["ITEMS", "LONGEST", "Shared"]


ITEMS = 100  # of one person in one memory
LONGEST = 500  # characters of an item
_OPEN = 20  # invitations of one person that wait
_SHARES = 100  # of one person
_AGAIN = 86_400.0  # seconds before who declined is asked again
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"


def _table(name: str, *columns: str) -> sa.Table:
    return sa.Table(f"tool_shared__{name}", sa.MetaData(), *(sa.Column(column) for column in columns))


shares = _table("shares", "id", "person", "kind", "name", "folder", "root", "created")
members = _table("members", "share", "person", "writes", "state", "told", "since")
items = _table("items", "id", "share", "person", "text", "outside", "created")


class Shared:
    """What people share with each other."""

    def __init__(self, store: StoreBroker) -> None:
        self.store = store

    @unit()
    def invite(self, tx: TablesTransaction, wanted: Share, person: str, *, writes: bool) -> tuple[Share, Member]:
        """Write an invitation down: the share, made when there is none yet, and who is asked.

        Who was asked before is not asked once more. Raises UserError for who declined a moment ago, and for more than
        anybody needs.
        """
        tx.alone("shares")
        _tidy(tx)
        now, mine = tx.clock(), clean(wanted.person)
        known = _shares(tx, shares.c.person == mine)
        share = next((one for one in known if (one.kind, one.name) == (wanted.kind, clean(wanted.name))), None)
        if share is None:
            if len(known) >= _SHARES:
                raise UserError("You share as much as anybody can.", hint="/unshare takes something back.")
            share = evolve(
                wanted,
                id="".join(secrets.choice(_LETTERS) for _ in range(8)),
                person=mine,
                name=clean(wanted.name),
                created=now,
            )
            row = {name: getattr(share, name) for name in ("id", "person", "kind", "name", "folder", "root", "created")}
            tx.execute(sa.insert(shares).values(**row))
        there = next((one for one in share.members if one.person == clean(person)), None)
        if there and there.state == "declined" and now - there.since < _AGAIN:
            raise UserError(f"{person} was asked, and did not want it.", hint="They can be asked again tomorrow.")
        if there is None and sum(m.state == "asked" for one in known for m in one.members) >= _OPEN:
            raise UserError("Too many invitations of yours wait for an answer.", hint="/unshare takes one back.")
        word = "write" if writes else ""
        if there and there.state != "declined":
            member = evolve(there, writes=word)
            if there.writes != word and word:  # more than they said yes to: they are asked about it
                member = evolve(member, state="asked", told="", since=now)
        else:
            member = Member(share=share.id, person=clean(person), writes=word, since=now)
        _put(tx, member)
        return share, member

    @unit()
    def told(self, tx: TablesTransaction, member: Member) -> None:
        """Take note that an invitation was handed to who sends messages."""
        tx.execute(sa.update(members).where(_of(member.share, member.person)).values(told="1"))

    @unit()
    def answer(self, tx: TablesTransaction, share: str, person: str, *, yes: bool) -> Share | None:
        """Keep the answer of who was asked; None where nobody asked them, or what was offered is gone.

        The same answer once more is the same answer: after a death a command may be carried out again.
        """
        tx.alone("shares")
        found = next(iter(_shares(tx, shares.c.id == clean(share))), None)
        mine = next((one for one in found.members if one.person == clean(person)), None) if found else None
        said = "in" if yes else "declined"
        if not found or not mine or mine.state not in ("asked", said):
            return None
        if mine.state == "asked":
            _put(tx, evolve(mine, state=said, told="1", since=tx.clock()))
        return next(iter(_shares(tx, shares.c.id == found.id)))

    @unit()
    def leave(self, tx: TablesTransaction, share: str, person: str) -> bool:
        """Let somebody be without a share: what they wrote in it goes with them. Whether they had it, or were asked."""
        tx.alone("shares")
        tx.execute(sa.delete(items).where(items.c.share == clean(share), items.c.person == clean(person)))
        return bool(tx.execute(sa.delete(members).where(_of(share, person))).changed)

    @unit()
    def end(self, tx: TablesTransaction, share: str) -> bool:
        """Share something no longer, with anybody; whether it was."""
        tx.alone("shares")
        gone = tx.execute(sa.delete(shares).where(shares.c.id == clean(share))).changed
        _tidy(tx)
        return bool(gone)

    @unit(READ)
    def of(self, tx: TablesTransaction, person: str) -> Sequence[Share]:
        """Return what somebody shares, has, or was asked about, oldest first."""
        mine = clean(person)
        wanted = ("asked", "in")
        with_me = sa.select(members.c.share).where(members.c.person == mine, members.c.state.in_(wanted))
        return _shares(tx, sa.or_(shares.c.person == mine, shares.c.id.in_(with_me)))

    @unit(READ)
    def all(self, tx: TablesTransaction) -> Sequence[Share]:
        """Return all that is shared, oldest first."""
        return _shares(tx, sa.true())

    @unit()
    def add(self, tx: TablesTransaction, share: str, person: str, text: str, *, outside: bool) -> Item:
        """Keep an item in a shared memory; the same text of the same person is there once. Raises UserError."""
        tx.alone("shares")
        found = next(iter(_shares(tx, shares.c.id == clean(share))), None)
        if found is None or not found.has(clean(person)):
            raise UserError("That memory is not shared with you any more.")
        mine = [one for one in _items(tx, found) if one.person == clean(person)]
        if same := next((one for one in mine if one.text == clean(text)), None):
            return same
        if len(mine) >= ITEMS:
            raise UserError(f"You have {ITEMS} items in it, and more it does not keep.", hint="Take some back first.")
        values: dict[str, Any] = {"share": found.id, "person": clean(person), "text": clean(text)}
        values |= {"outside": "1" if outside else "", "created": tx.clock()}
        tx.execute(sa.insert(items).values(**values))
        return next(one for one in _items(tx, found) if one.person == clean(person) and one.text == clean(text))

    @unit(READ)
    def items(self, tx: TablesTransaction, share: Share) -> Sequence[Item]:
        """Return what is kept in a shared memory by those who have it, oldest first."""
        found = next(iter(_shares(tx, shares.c.id == share.id)), None)
        return _items(tx, found) if found else ()

    @unit()
    def take_back(self, tx: TablesTransaction, number: int, person: str, *, everything: bool) -> bool:
        """Take an item out: one's own, in one's own memory any, and ``everything`` for whose Hermes it is."""
        mine = sa.select(shares.c.id).where(shares.c.person == clean(person))
        whose = sa.true() if everything else sa.or_(items.c.person == clean(person), items.c.share.in_(mine))
        return bool(tx.execute(sa.delete(items).where(items.c.id == number, whose)).changed)


def _of(share: str, person: str) -> sa.ColumnElement[bool]:
    return sa.and_(members.c.share == clean(share), members.c.person == clean(person))


def _put(tx: TablesTransaction, member: Member) -> None:
    tx.execute(sa.delete(members).where(_of(member.share, member.person)))
    names = ("share", "person", "writes", "state", "told", "since")
    tx.execute(sa.insert(members).values(**{name: getattr(member, name) for name in names}))


def _shares(tx: TablesTransaction, where: sa.ColumnElement[bool]) -> list[Share]:
    found = [made(Share, row) for row in tx.execute(sa.select(shares).where(where).order_by(shares.c.created))]
    ids = [one.id for one in found]
    rows = tx.execute(sa.select(members).where(members.c.share.in_(ids)).order_by(members.c.since)) if ids else ()
    with_whom = [made(Member, row) for row in rows]
    return [evolve(one, members=tuple(m for m in with_whom if m.share == one.id)) for one in found]


def _items(tx: TablesTransaction, share: Share) -> list[Item]:
    wanted = sa.select(items).where(items.c.share == share.id, items.c.person.in_(share.people))
    return [made(Item, row) for row in tx.execute(wanted.order_by(items.c.id))]


def _tidy(tx: TablesTransaction) -> None:
    """Let go of what belongs to no share any more, as where its person was erased."""
    there = sa.select(shares.c.id)
    for table in (members, items):
        tx.execute(sa.delete(table).where(table.c.share.not_in(there)))
