"""The first schema: driftwatch's own tables in public, procrastinate's in the schema jobs."""

import hashlib

import sqlalchemy as sa
from procrastinate.schema import SchemaManager
from sqlalchemy.dialects import postgresql

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

#: what procrastinate 3.10 ships; pyproject.toml pins the minor, a unit test compares
PROCRASTINATE_SCHEMA_SHA256 = "c70ec4b400a60ad9592787653aae5ae77ae41bf801d56b5bd2712751a07f2009"


def upgrade() -> None:
    create_tables()
    create_append_only_audit()
    create_job_engine()


def create_append_only_audit() -> None:
    op.execute("""
        CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'audit_log is append only' USING ERRCODE = 'insufficient_privilege';
        END $$
    """)
    op.execute("""
        CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()
    """)


def create_job_engine() -> None:
    schema = SchemaManager.get_schema()
    found = hashlib.sha256(schema.encode()).hexdigest()
    if found != PROCRASTINATE_SCHEMA_SHA256:
        raise RuntimeError(f"the installed procrastinate has another schema ({found}) than this migration was made for")
    op.execute("CREATE SCHEMA jobs")
    # The raw psycopg connection: several statements at once, and % is nothing special there.
    connection = op.get_bind().connection.driver_connection
    path = connection.execute("SHOW search_path").fetchone()[0]
    connection.execute("SET LOCAL search_path = jobs")
    connection.execute(schema)
    connection.execute(f"SET LOCAL search_path = {path}")


def create_tables() -> None:
    op.create_table(
        "api_token",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("prefix", sa.Text(), nullable=False),
        sa.Column("sha256", sa.LargeBinary(), nullable=False),
        sa.Column("scopes", postgresql.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("sha256"),
    )
    op.create_table(
        "audit_log",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("object", sa.Text(), nullable=False),
        sa.Column("before", sa.Text(), nullable=True),
        sa.Column("after", sa.Text(), nullable=True),
        sa.Column("request_id", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "blob",
        sa.Column("sha256", sa.LargeBinary(), nullable=False),
        sa.Column("canon_algo", sa.Integer(), server_default="1", nullable=False),
        sa.Column("enc", sa.String(), server_default="raw", nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("sha256"),
    )
    op.create_table(
        "channel",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("config", sa.LargeBinary(), nullable=False),
        sa.Column("state", sa.String(), server_default="enabled", nullable=False),
        sa.Column("disabled_reason", sa.Text(), nullable=True),
        sa.Column("paused_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "daily_summary",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("changes", sa.Integer(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("day"),
    )
    op.create_table(
        "installation",
        sa.Column("id", sa.SmallInteger(), server_default="1", autoincrement=False, nullable=False),
        sa.Column("key_check", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("id = 1", name="ck_installation_one_row"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "login_link",
        sa.Column("sha256", sa.LargeBinary(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("sha256"),
    )
    op.create_table(
        "server",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("tags", postgresql.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("interval_seconds", sa.Integer(), server_default="300", nullable=False),
        sa.Column("eras", postgresql.ARRAY(sa.Text()), nullable=True),
        sa.Column("listen", sa.String(), server_default="auto", nullable=False),
        sa.Column("mode", sa.String(), server_default="follow", nullable=False),
        sa.Column("state", sa.String(), server_default="active", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("detected_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("detection", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "changeset",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("server_id", sa.BigInteger(), nullable=False),
        sa.Column("first_window_start", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_window_end", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["server_id"],
            ["server.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_changeset_server_id"), "changeset", ["server_id"], unique=False)
    op.create_table(
        "credential",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("server_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), server_default="default", nullable=False),
        sa.Column("kind", sa.String(), server_default="headers", nullable=False),
        sa.Column("header_names", postgresql.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("ciphertext", sa.LargeBinary(), nullable=False),
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["server_id"],
            ["server.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_credential_server_id"), "credential", ["server_id"], unique=False)
    op.create_table(
        "alert",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("server_id", sa.BigInteger(), nullable=False),
        sa.Column("changeset_id", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.Text(), server_default="open", nullable=False),
        sa.Column("severity", sa.String(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("settles_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("handled_by", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["changeset_id"],
            ["changeset.id"],
        ),
        sa.ForeignKeyConstraint(
            ["server_id"],
            ["server.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("changeset_id"),
    )
    op.create_index(op.f("ix_alert_server_id"), "alert", ["server_id"], unique=False)
    op.create_index(op.f("ix_alert_state"), "alert", ["state"], unique=False)
    op.create_index(
        "ux_alert_not_watching",
        "alert",
        ["server_id"],
        unique=True,
        postgresql_where=sa.text("kind = 'not-watching' AND closed_at IS NULL"),
    )
    op.create_table(
        "profile",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("server_id", sa.BigInteger(), nullable=False),
        sa.Column("era", sa.String(), nullable=False),
        sa.Column("credential_id", sa.BigInteger(), nullable=True),
        sa.Column("scopes", postgresql.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("client_capabilities", sa.Text(), server_default="{}", nullable=False),
        sa.Column("succeeds_profile_id", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["credential_id"], ["credential.id"], ondelete="SET NULL"),
        sa.ForeignKeyConstraint(
            ["server_id"],
            ["server.id"],
        ),
        sa.ForeignKeyConstraint(
            ["succeeds_profile_id"],
            ["profile.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_profile_server_id"), "profile", ["server_id"], unique=False)
    op.create_table(
        "alert_event",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("alert_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("actor", sa.Text(), server_default="driftwatch", nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["alert_id"],
            ["alert.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_alert_event_alert_id"), "alert_event", ["alert_id"], unique=False)
    op.create_table(
        "candidate",
        sa.Column("profile_id", sa.BigInteger(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("old_sha", sa.LargeBinary(), nullable=True),
        sa.Column("new_sha", sa.LargeBinary(), nullable=True),
        sa.Column("prior_sent_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("first_arrived_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sightings", sa.Integer(), server_default="1", nullable=False),
        sa.Column("returns", sa.Integer(), server_default="0", nullable=False),
        sa.Column("facts", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["profile_id"], ["profile.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("profile_id", "tool"),
    )
    op.create_table(
        "listening",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("profile_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["profile_id"],
            ["profile.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_listening_profile", "listening", ["profile_id", "at"], unique=False)
    op.create_table(
        "notification",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("profile_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("spent_by", sa.BigInteger(), nullable=True),
        sa.Column("spent_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["profile_id"],
            ["profile.id"],
        ),
        sa.ForeignKeyConstraint(
            ["spent_by"],
            ["changeset.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_notification_profile_at", "notification", ["profile_id", "at"], unique=False)
    op.create_index(
        "ix_notification_spent_by",
        "notification",
        ["spent_by"],
        unique=False,
        postgresql_where=sa.text("spent_by IS NOT NULL"),
    )
    op.create_index(
        "ix_notification_unspent",
        "notification",
        ["profile_id", "at"],
        unique=False,
        postgresql_where=sa.text("spent_at IS NULL"),
    )
    op.create_table(
        "outbox",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("dedupe_key", sa.Text(), nullable=False),
        sa.Column("ordering_key", sa.Text(), nullable=False),
        sa.Column("channel_id", sa.BigInteger(), nullable=False),
        sa.Column("alert_id", sa.BigInteger(), nullable=True),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("form", sa.String(), server_default="full", nullable=False),
        sa.Column("state", sa.Text(), server_default="queued", nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("next_try_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("lease_token", sa.Uuid(), nullable=True),
        sa.Column("leased_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("delivered_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["alert_id"],
            ["alert.id"],
        ),
        sa.ForeignKeyConstraint(
            ["channel_id"],
            ["channel.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("dedupe_key"),
    )
    op.create_index(
        "ix_outbox_next",
        "outbox",
        ["next_try_at"],
        unique=False,
        postgresql_where=sa.text("state IN ('queued', 'leased')"),
    )
    op.create_index("ix_outbox_ordering", "outbox", ["ordering_key", "id"], unique=False)
    op.create_index(op.f("ix_outbox_alert_id"), "outbox", ["alert_id"], unique=False)
    op.create_table(
        "poll_event",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("profile_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["profile_id"], ["profile.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_poll_event_profile_id"), "poll_event", ["profile_id"], unique=False)
    op.create_table(
        "poll_rollup",
        sa.Column("profile_id", sa.BigInteger(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("polls", sa.Integer(), server_default="0", nullable=False),
        sa.Column("unchanged", sa.Integer(), server_default="0", nullable=False),
        sa.Column("errors", sa.Integer(), server_default="0", nullable=False),
        sa.Column("ms_sum", sa.Float(), server_default="0.0", nullable=False),
        sa.Column("ms_max", sa.Float(), server_default="0.0", nullable=False),
        sa.ForeignKeyConstraint(["profile_id"], ["profile.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("profile_id", "day"),
    )
    op.create_table(
        "profile_state",
        sa.Column("profile_id", sa.BigInteger(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("next_due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("due_reason", sa.String(), server_default="schedule", nullable=False),
        sa.Column("claim_token", sa.Uuid(), nullable=True),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("session", sa.LargeBinary(), nullable=True),
        sa.Column("last_complete_sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_poll_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("body_sha256", sa.LargeBinary(), nullable=True),
        sa.Column("fingerprint", sa.LargeBinary(), nullable=True),
        sa.Column("protocol_version", sa.Text(), nullable=True),
        sa.Column("server_info", sa.Text(), nullable=True),
        sa.Column("instructions", sa.Text(), nullable=True),
        sa.Column("capabilities", sa.Text(), nullable=True),
        sa.Column("list_changed_declared", sa.Boolean(), nullable=True),
        sa.Column("ttl_ms", sa.BigInteger(), nullable=True),
        sa.Column("cache_scope", sa.String(), nullable=True),
        sa.Column("tool_count", sa.Integer(), nullable=True),
        sa.Column("polls_survived", sa.Integer(), server_default="0", nullable=False),
        sa.Column("state", sa.Text(), server_default="new", nullable=False),
        sa.Column("failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("failing_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("duration_ms", sa.Float(), nullable=True),
        sa.Column("follow_from", sa.DateTime(timezone=True), nullable=True),
        sa.Column("noisy_until", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["profile_id"], ["profile.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("profile_id"),
        postgresql_with={"fillfactor": 70},
    )
    op.create_index("ix_profile_state_due", "profile_state", ["next_due_at"], unique=False)
    op.create_table(
        "restart_evidence",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("profile_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["profile_id"],
            ["profile.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_restart_profile_at", "restart_evidence", ["profile_id", "at"], unique=False)
    op.create_table(
        "snapshot",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("profile_id", sa.BigInteger(), nullable=False),
        sa.Column("fingerprint", sa.LargeBinary(), nullable=False),
        sa.Column("first_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("protocol_version", sa.Text(), nullable=True),
        sa.Column("server_info", sa.Text(), nullable=True),
        sa.Column("instructions", sa.Text(), nullable=True),
        sa.Column("capabilities", sa.Text(), nullable=True),
        sa.Column("tool_count", sa.Integer(), nullable=False),
        sa.Column("findings", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["profile_id"],
            ["profile.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_snapshot_profile_id"), "snapshot", ["profile_id"], unique=False)
    op.create_table(
        "stream_interval",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("profile_id", sa.BigInteger(), nullable=False),
        sa.Column("acked", sa.DateTime(timezone=True), nullable=False),
        sa.Column("verified_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_by", sa.String(), server_default="open", nullable=False),
        sa.Column("ended_why", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["profile_id"],
            ["profile.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_stream_interval_profile", "stream_interval", ["profile_id", "acked"], unique=False)
    op.create_table(
        "tool",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("profile_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["profile_id"],
            ["profile.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("profile_id", "name"),
    )
    op.create_table(
        "delivery_attempt",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("outbox_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("body", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("duration_ms", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(
            ["outbox_id"],
            ["outbox.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_delivery_attempt_outbox_id"), "delivery_attempt", ["outbox_id"], unique=False)
    op.create_table(
        "tool_version",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("tool_id", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("definition_sha", sa.LargeBinary(), nullable=False),
        sa.Column("verbatim_sha", sa.LargeBinary(), nullable=True),
        sa.Column("part_shas", sa.Text(), nullable=False),
        sa.Column("semantic_shas", sa.Text(), nullable=False),
        sa.Column("invalid", sa.Text(), nullable=True),
        sa.Column("findings", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["definition_sha"],
            ["blob.sha256"],
        ),
        sa.ForeignKeyConstraint(
            ["tool_id"],
            ["tool.id"],
        ),
        sa.ForeignKeyConstraint(
            ["verbatim_sha"],
            ["blob.sha256"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("tool_id", "definition_sha"),
        sa.UniqueConstraint("tool_id", "number"),
    )
    op.create_index(op.f("ix_tool_version_definition_sha"), "tool_version", ["definition_sha"], unique=False)
    op.create_index(op.f("ix_tool_version_verbatim_sha"), "tool_version", ["verbatim_sha"], unique=False)
    op.create_table(
        "acceptance",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("tool_id", sa.BigInteger(), nullable=False),
        sa.Column("version_id", sa.BigInteger(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("mode", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tool_id"],
            ["tool.id"],
        ),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["tool_version.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_acceptance_tool_id"), "acceptance", ["tool_id"], unique=False)
    op.create_index(op.f("ix_acceptance_version_id"), "acceptance", ["version_id"], unique=False)
    op.create_table(
        "change",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("changeset_id", sa.BigInteger(), nullable=False),
        sa.Column("server_id", sa.BigInteger(), nullable=False),
        sa.Column("profile_id", sa.BigInteger(), nullable=False),
        sa.Column("tool_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("from_version_id", sa.BigInteger(), nullable=True),
        sa.Column("to_version_id", sa.BigInteger(), nullable=True),
        sa.Column("window_start", sa.DateTime(timezone=True), nullable=False),
        sa.Column("window_end", sa.DateTime(timezone=True), nullable=False),
        sa.Column("facts", sa.Text(), server_default="{}", nullable=False),
        sa.Column("state", sa.Text(), server_default="recorded", nullable=False),
        sa.Column("recorded_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=True),
        sa.Column("via", sa.Text(), nullable=True),
        sa.Column("part", sa.Text(), nullable=True),
        sa.Column("announcement", sa.Text(), nullable=True),
        sa.Column("announcement_reason", sa.Text(), nullable=True),
        sa.Column("judge_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["changeset_id"],
            ["changeset.id"],
        ),
        sa.ForeignKeyConstraint(
            ["from_version_id"],
            ["tool_version.id"],
        ),
        sa.ForeignKeyConstraint(
            ["profile_id"],
            ["profile.id"],
        ),
        sa.ForeignKeyConstraint(
            ["server_id"],
            ["server.id"],
        ),
        sa.ForeignKeyConstraint(
            ["to_version_id"],
            ["tool_version.id"],
        ),
        sa.ForeignKeyConstraint(
            ["tool_id"],
            ["tool.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_change_changeset_id"), "change", ["changeset_id"], unique=False)
    op.create_index(op.f("ix_change_from_version_id"), "change", ["from_version_id"], unique=False)
    op.create_index(op.f("ix_change_profile_id"), "change", ["profile_id"], unique=False)
    op.create_index(op.f("ix_change_to_version_id"), "change", ["to_version_id"], unique=False)
    op.create_index(
        "ix_change_judge", "change", ["judge_at"], unique=False, postgresql_where=sa.text("judge_at IS NOT NULL")
    )
    op.create_index("ix_change_pending", "change", ["id"], unique=False, postgresql_where=sa.text("state <> 'judged'"))
    op.create_index("ix_change_server", "change", ["server_id", "id"], unique=False)
    op.create_index("ix_change_tool", "change", ["tool_id", "id"], unique=False)
    op.create_index(
        "ix_change_undecided", "change", ["changeset_id"], unique=False, postgresql_where=sa.text("decided_at IS NULL")
    )
    op.create_table(
        "tool_interval",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("tool_id", sa.BigInteger(), nullable=False),
        sa.Column("version_id", sa.BigInteger(), nullable=True),
        sa.Column("window_start", sa.DateTime(timezone=True), nullable=True),
        sa.Column("valid_from", sa.DateTime(timezone=True), nullable=False),
        sa.Column("valid_to", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["tool_id"],
            ["tool.id"],
        ),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["tool_version.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_tool_interval_tool_id"), "tool_interval", ["tool_id"], unique=False)
    op.create_index(op.f("ix_tool_interval_version_id"), "tool_interval", ["version_id"], unique=False)
    op.create_index(
        "ux_tool_interval_open", "tool_interval", ["tool_id"], unique=True, postgresql_where=sa.text("valid_to IS NULL")
    )
    op.create_table(
        "alert_decision",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("change_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("line", sa.Text(), nullable=False),
        sa.Column("severity", sa.String(), nullable=True),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("alert_id", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["alert_id"],
            ["alert.id"],
        ),
        sa.ForeignKeyConstraint(
            ["change_id"],
            ["change.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_alert_decision_alert_id"), "alert_decision", ["alert_id"], unique=False)
    op.create_index(op.f("ix_alert_decision_change_id"), "alert_decision", ["change_id"], unique=False)
    op.create_table(
        "assessment",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("change_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("classifier_version", sa.Text(), nullable=False),
        sa.Column("duration_ms", sa.Float(), server_default="0.0", nullable=False),
        sa.ForeignKeyConstraint(
            ["change_id"],
            ["change.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_assessment_change_id"), "assessment", ["change_id"], unique=False)
    op.create_table(
        "judgement",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("change_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("announcement", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("fact", sa.Text(), nullable=True),
        sa.Column("rule", sa.Integer(), nullable=False),
        sa.Column("evidence", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["change_id"],
            ["change.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_judgement_change_id"), "judgement", ["change_id"], unique=False)
    op.create_table(
        "change_part",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("assessment_id", sa.BigInteger(), nullable=False),
        sa.Column("part", sa.String(), nullable=False),
        sa.Column("verdict", sa.String(), nullable=False),
        sa.Column("via", sa.String(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("witness", sa.Text(), nullable=True),
        sa.Column("paths", sa.Text(), nullable=True),
        sa.Column("clients", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["assessment_id"],
            ["assessment.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_change_part_assessment_id"), "change_part", ["assessment_id"], unique=False)
    op.create_table(
        "finding",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("change_part_id", sa.BigInteger(), nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("pointer", sa.Text(), nullable=False),
        sa.Column("level", sa.String(), nullable=False),
        sa.Column("effect", sa.String(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("witness", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["change_part_id"],
            ["change_part.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_finding_change_part_id"), "finding", ["change_part_id"], unique=False)
    op.create_index(op.f("ix_finding_rule"), "finding", ["rule"], unique=False)
