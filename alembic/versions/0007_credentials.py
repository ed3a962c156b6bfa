"""Credentials of every kind: what is readable of them, the token they brought, and how its last renewal went."""

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Nullable, or with a constant default: Postgres adds such columns without rewriting or long locking.
    for column in (
        sa.Column("settings", sa.Text()),
        sa.Column("token", sa.LargeBinary()),
        sa.Column("token_expires_at", sa.DateTime(timezone=True)),
        sa.Column("renewed_at", sa.DateTime(timezone=True)),
        sa.Column("granted_scopes", postgresql.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("failed_at", sa.DateTime(timezone=True)),
        sa.Column("failure", sa.Text()),
    ):
        op.add_column("credential", column)
    # One row a server at most: this takes no time.
    op.create_index("ux_credential_server_name", "credential", ["server_id", "name"], unique=True)


def downgrade() -> None:
    op.drop_index("ux_credential_server_name", "credential")
    for name in ("failure", "failed_at", "granted_scopes", "renewed_at", "token_expires_at", "token", "settings"):
        op.drop_column("credential", name)
