"""Servers that nobody polls: their snapshots are pushed, each at most once."""

import sqlalchemy as sa

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # A constant default is a note in the catalogue: no row is rewritten.
    op.add_column("server", sa.Column("pushed", sa.Boolean(), server_default=sa.text("false"), nullable=False))
    op.create_table(
        "pushed_snapshot",
        sa.Column("server_id", sa.BigInteger(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["server_id"], ["server.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("server_id", "id"),
    )
    op.create_index("ix_pushed_snapshot_received", "pushed_snapshot", ["server_id", "received_at"])
