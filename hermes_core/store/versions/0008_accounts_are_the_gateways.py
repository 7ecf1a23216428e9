"""Who serves an account on a service is the gateway's own from here on: a lease is of no use to whoever comes after.

Revision ID: 0008
Revises: 0007
"""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Drop the table. Nothing of it is kept: a gateway that starts takes its leases anew."""
    op.drop_table("accounts")
