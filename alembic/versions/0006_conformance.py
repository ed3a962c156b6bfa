"""What a server says of itself is believed like a definition is; how often the order of its list moves."""

import sqlalchemy as sa

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Columns that are NULL, or have a constant default, are added without touching a row.
    op.add_column("profile_state", sa.Column("said_sha256", sa.LargeBinary(), nullable=True))
    op.add_column("profile_state", sa.Column("list_order", sa.LargeBinary(), nullable=True))
    op.add_column("profile_state", sa.Column("order_moves", sa.Integer(), server_default="0", nullable=False))
    op.add_column("profile_state", sa.Column("order_moved_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    for column in ("order_moved_at", "order_moves", "list_order", "said_sha256"):
        op.drop_column("profile_state", column)
