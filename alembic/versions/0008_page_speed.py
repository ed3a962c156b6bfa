"""Indexes for the changelog's filters: rare verdicts and announcements are found without walking every changeset.

Two seconds each over two million changes; meanwhile changes are read, and new ones wait. A long transaction of
somebody else must not make everybody queue behind these, so that they give up after ten seconds of waiting.
"""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '10s'")
    op.create_index("ix_change_verdict_changeset", "change", ["verdict", "changeset_id"])
    op.create_index("ix_change_announcement_changeset", "change", ["announcement", "changeset_id"])
    op.execute("SET LOCAL lock_timeout = DEFAULT")
