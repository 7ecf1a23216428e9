import sqlalchemy as sa
from alembic import op

revision, down_revision, branch_labels, depends_on = "0002", "0001", None, None


def upgrade():
    op.add_column("tool_notebook__notes", sa.Column("pinned", sa.Boolean, nullable=False, server_default=sa.false()))
