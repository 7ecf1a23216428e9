"""To whom each question was put, and which messages ask it: a row before any of them is sent.

A row outlives its question for a while: who presses an old button is told what became of it.
"""

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from hermes_core.codec import clean, dumps
from hermes_core.database import READ, TablesTransaction, made
from hermes_core.types import Principal
from hermes_platform_gateway.rows.outbox import stored
from hermes_platform_gateway.rows.tables import Part, equal, owned, questions, unit
from hermes_platform_gateway.rows.values import KEPT, Outgoing, PutQuestion

__all__ = ["Questions"]

_TEXTS = ("id", "owner", "session_id", "kind", "addressee", "platform", "account", "chat", "thread")


class Questions(Part):
    """The rows of what people are asked in chats."""

    @unit()
    def put(self, tx: TablesTransaction, question: PutQuestion) -> None:
        """Write down to whom a question is put; what was put before stays as it was. Very old ones are forgotten."""
        _put(tx, question)
        tx.execute(sa.delete(questions).where(questions.c.asked < time.time() - KEPT, questions.c.closed != ""))

    @unit()
    def put_together(self, tx: TablesTransaction, put: Sequence[PutQuestion], messages: Sequence[Outgoing]) -> None:
        """Write several down with the messages that ask them: one commit."""
        for question in put:
            _put(tx, question)
        for message in messages:
            stored(tx, message)

    @unit(READ)
    def get(self, tx: TablesTransaction, question_id: str) -> PutQuestion | None:
        """The question of a whole id."""
        found = tx.execute(sa.select(questions).where(equal(questions, id=clean(question_id))))
        return next((_read(row) for row in found), None)

    @unit(READ)
    def named(self, tx: TablesTransaction, words: str) -> list[PutQuestion]:
        """The questions of an id, or of the start of one."""
        words = clean(words).strip()
        fits = questions.c.id.startswith(words, autoescape=True)
        return [_read(row) for row in tx.execute(sa.select(questions).where(fits).limit(20))] if words else []

    @unit(READ)
    def open_to(self, tx: TablesTransaction, person: Principal) -> list[PutQuestion]:
        """What was put to somebody and is not over, newest first."""
        mine = equal(questions, **owned(person), closed="")
        return [_read(row) for row in tx.execute(sa.select(questions).where(mine).order_by(questions.c.asked.desc()))]

    @unit(READ)
    def open_in(self, tx: TablesTransaction, session_id: str) -> list[PutQuestion]:
        """What was asked in a session and is not over."""
        here = equal(questions, session_id=clean(session_id), closed="")
        return [_read(row) for row in tx.execute(sa.select(questions).where(here))]

    @unit()
    def close(self, tx: TablesTransaction, question_id: str, by: str) -> bool:
        """Note that a question is over, and ``by`` what; False when it was by something else before."""
        mine = equal(questions, id=clean(question_id)) & questions.c.closed.in_(["", clean(by)])
        return bool(tx.execute(sa.update(questions).where(mine).values(closed=clean(by))).changed)


def _put(tx: TablesTransaction, question: PutQuestion) -> None:
    row = {**{name: clean(getattr(question, name)) for name in _TEXTS}, **owned(question.to)}
    row |= {"says": clean(dumps(list(question.says))), "keys": clean(dumps(list(question.keys)))}
    if not tx.execute(sa.select(questions.c.id).where(equal(questions, id=row["id"]))):
        tx.execute(sa.insert(questions).values(**row, asked=time.time()))


def _read(row: Mapping[str, Any]) -> PutQuestion:
    to = Principal(profile=row["profile"], person=row["person"])
    return made(PutQuestion, row, to=to, says=_list(row["says"]), keys=_list(row["keys"]))


def _list(text: str) -> Sequence[str]:
    return tuple(json.loads(text or "[]"))
