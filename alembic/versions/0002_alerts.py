"""Routes, mutes, ignores, maintenance windows, policy changes, threads, and verdicts against the baseline."""

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    create_tables()
    add_columns()


def create_tables() -> None:
    op.create_table(
        "route",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("match", sa.Text(), nullable=False),
        sa.Column("channels", postgresql.ARRAY(sa.BigInteger()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("goes_on", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "ignore_rule",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("server_id", sa.BigInteger(), nullable=True),
        sa.Column("tool", sa.Text(), nullable=True),
        sa.Column("rule", sa.Text(), nullable=True),
        sa.Column("pointer", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_by", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["server_id"],
            ["server.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_ignore_rule_server_id"), "ignore_rule", ["server_id"], unique=False)
    op.create_table(
        "maintenance_window",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("server_id", sa.BigInteger(), nullable=True),
        sa.Column("tag", sa.Text(), nullable=True),
        sa.Column("starts_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["server_id"],
            ["server.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_maintenance_window_server_id"), "maintenance_window", ["server_id"], unique=False)
    op.create_table(
        "policy_change",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("server_id", sa.BigInteger(), nullable=True),
        sa.Column("tag", sa.Text(), nullable=True),
        sa.Column("line", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("severity", sa.Text(), nullable=True),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["server_id"],
            ["server.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_policy_change_server_id"), "policy_change", ["server_id"], unique=False)
    op.create_index(
        "ux_policy_change",
        "policy_change",
        ["server_id", "tag", "line"],
        unique=True,
        postgresql_nulls_not_distinct=True,
    )
    op.create_table(
        "alert_thread",
        sa.Column("channel_id", sa.BigInteger(), nullable=False),
        sa.Column("alert_id", sa.BigInteger(), nullable=False),
        sa.Column("conversation", sa.Text(), nullable=False),
        sa.Column("ts", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["alert_id"], ["alert.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["channel_id"],
            ["channel.id"],
        ),
        sa.PrimaryKeyConstraint("channel_id", "alert_id"),
    )
    op.create_index(op.f("ix_alert_thread_alert_id"), "alert_thread", ["alert_id"], unique=False)
    op.create_table(
        "mute",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("server_id", sa.BigInteger(), nullable=False),
        sa.Column("alert_id", sa.BigInteger(), nullable=True),
        sa.Column("tool", sa.Text(), nullable=True),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_by", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["alert_id"], ["alert.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["server_id"],
            ["server.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_mute_alert_id"), "mute", ["alert_id"], unique=False)
    op.create_index(op.f("ix_mute_server_id"), "mute", ["server_id"], unique=False)
    op.create_table(
        "baseline_verdict",
        sa.Column("change_id", sa.BigInteger(), nullable=False),
        sa.Column("from_version_id", sa.BigInteger(), nullable=True),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("via", sa.Text(), nullable=True),
        sa.Column("words", sa.Text(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["change_id"], ["change.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["from_version_id"], ["tool_version.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("change_id"),
    )
    op.create_index("ix_baseline_verdict_from_version_id", "baseline_verdict", ["from_version_id"])


def add_columns() -> None:
    op.add_column("alert", sa.Column("held", sa.Text(), nullable=True))
    op.add_column("alert", sa.Column("held_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("channel", sa.Column("accepts", sa.Text(), nullable=True))
    op.add_column("channel", sa.Column("refusals", sa.Integer(), server_default="0", nullable=False))
    op.add_column("outbox", sa.Column("data", sa.Text(), nullable=True))
    op.add_column("outbox", sa.Column("action", sa.String(), server_default="post", nullable=False))
    op.add_column("outbox", sa.Column("route", sa.Text(), nullable=True))
    op.add_column("outbox", sa.Column("server_id", sa.BigInteger(), nullable=True))
    op.create_index("ix_outbox_channel", "outbox", ["channel_id", "id"], unique=False)
    op.create_index("ix_outbox_server", "outbox", ["server_id", "created_at"], unique=False)
    op.add_column("server", sa.Column("transitive", sa.Boolean(), server_default=sa.text("false"), nullable=False))
