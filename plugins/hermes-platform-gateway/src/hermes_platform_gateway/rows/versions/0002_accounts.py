"""Who serves which account on a service, and how it stands.

Revision ID: 0002
Revises: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table, which the kernel had until its revision 0008."""
    op.create_table(
        "platform_gateway__accounts",
        *(
            sa.Column(name, sa.Text(), server_default="", nullable=False)
            for name in ("platform", "account", "holder", "place", "state", "error")
        ),
        *(sa.Column(name, number, server_default="0", nullable=False) for name in ("fence", "pid")),
        *(sa.Column(name, sa.Float(), server_default="0", nullable=False) for name in ("beat", "since")),
        sa.PrimaryKeyConstraint("platform", "account"),
    )
