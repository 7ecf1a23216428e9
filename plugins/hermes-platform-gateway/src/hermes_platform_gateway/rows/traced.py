"""Looking for messages that went out by what a person knows of them: a trace, a number, an id of a service."""

import json
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from hermes_core.codec import clean
from hermes_core.database import READ, TablesTransaction
from hermes_core.types import Principal
from hermes_platform_gateway.rows.tables import Part, equal, outbox, owned, unit

__all__ = ["Traced"]

_SHOWN = (
    "id", "turn_id", "kind", "platform", "account", "state", "message_id", "error", "tries", "repeated", "created",
    "due", "sent",
)  # fmt: skip


class Traced(Part):
    """Reads the rows of the outbox as far as an owner may see them; without one all."""

    @unit(READ)
    def named(self, tx: TablesTransaction, word: str, owner: Principal | None) -> list[tuple[str, str]]:
        """The trace and the turn of what a word names: a trace, a key, a row's number, an id that a service gave."""
        if not (word := clean(word)):
            return []
        number = int(word) if word.isdecimal() and len(word) < 19 else -1
        inside = json.dumps(word, ensure_ascii=False)
        names = (outbox.c.trace == word, outbox.c.key == word, outbox.c.message_id == word, outbox.c.id == number)
        among = outbox.c.message_id.startswith("[") & outbox.c.message_id.contains(inside, autoescape=True)
        rows = sa.select(outbox.c.trace, outbox.c.turn_id).where(sa.or_(*names, among), _seen_by(owner))
        return [(r["trace"], r["turn_id"]) for r in tx.execute(rows.order_by(outbox.c.id.desc()).limit(20))]

    @unit(READ)
    def on_the_way(
        self, tx: TablesTransaction, trace: str, turn_id: str, owner: Principal | None
    ) -> list[Mapping[str, Any]]:
        """The rows of a trace, or of a turn, as far as these are given: how far they came, and nothing they say."""
        given = [outbox.c[name] == value for name, value in (("trace", trace), ("turn_id", turn_id)) if value]
        rows = sa.select(*(outbox.c[name] for name in _SHOWN)).where(sa.or_(sa.false(), *given), _seen_by(owner))
        return list(tx.execute(rows.order_by(outbox.c.id)))


def _seen_by(owner: Principal | None) -> sa.ColumnElement[bool]:
    return equal(outbox, **owned(owner)) if owner else sa.true()
