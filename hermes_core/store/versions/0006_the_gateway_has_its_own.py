"""What goes out, chats, session keys and who may talk are the gateway's own from here on.

What a store has of that is left for it in tables that are its own by their names; its first revision takes them over,
whenever that is. A store without such rows keeps nothing of it.

Revision ID: 0006
Revises: 0005
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

OWNED = "SELECT old.*, owners.profile, owners.person FROM {0} AS old JOIN owners ON owners.id = owner"
# the table -> under which name what of it is left
LEFT = {
    "outbox": ("outbox", OWNED),
    "chats": ("chats", OWNED),
    "routes": ("routes", f"{OWNED} WHERE substr(key, 1, 5) != 'head:'"),
    "people": ("people", "SELECT * FROM {0}"),
    "pairings": ("pairings", "SELECT * FROM {0}"),
    "pairing_locks": ("locks", "SELECT * FROM {0}"),
}


def upgrade() -> None:
    """Leave the rows for the gateway, and drop the tables, with heads of sessions, which are nobody's by now."""
    connection = op.get_bind()
    for table, (name, selected) in LEFT.items():
        rows = selected.format(table)
        if connection.execute(sa.text(f"{rows} LIMIT 1")).first():
            op.execute(f"CREATE TABLE platform_gateway__left_{name} AS {rows}")
        op.drop_table(table)
