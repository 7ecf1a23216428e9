"""The notes, in SQLAlchemy Core. Imported with the first call, not at start."""

import sqlalchemy as sa

NOTES = sa.Table(
    "tool_notebook__notes",
    sa.MetaData(),
    sa.Column("id", sa.BigInteger, primary_key=True),
    sa.Column("owner", sa.Text),
    sa.Column("text", sa.Text),
    sa.Column("pinned", sa.Boolean),
)


def add(tx, owner, text):
    tx.execute(sa.insert(NOTES).values(owner=f"{owner.profile}/{owner.person}", text=text, pinned=False))


def of(tx, owner):
    mine = sa.select(NOTES.c.text).where(NOTES.c.owner == f"{owner.profile}/{owner.person}")
    return [row["text"] for row in tx.execute(mine.order_by(NOTES.c.id).limit(100))]
