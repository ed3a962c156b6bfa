"""Search over the field names of schemas, and the indexes that keep every page fast."""

import json
import zlib

import sqlalchemy as sa

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

PIECE = 500
MAX_FIELDS = 400
MAX_NAME = 200
VALUES = {"const", "default", "enum", "examples", "required"}


def upgrade() -> None:
    op.create_table(
        "field_name",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "tool_field",
        sa.Column("tool_id", sa.BigInteger(), nullable=False),
        sa.Column("field_id", sa.BigInteger(), nullable=False),
        sa.Column("part", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["tool_id"], ["tool.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["field_id"], ["field_name.id"]),
        sa.PrimaryKeyConstraint("tool_id", "field_id", "part"),
    )
    op.create_index("ix_tool_field_field", "tool_field", ["field_id", "tool_id"])
    op.create_index("ix_change_server_recorded", "change", ["server_id", "recorded_at"])
    op.create_index("ix_change_verdict", "change", ["verdict", "id"])
    op.create_index("ix_change_announcement", "change", ["announcement", "id"])
    op.create_index("ix_finding_rule_part", "finding", ["rule", "change_part_id"])
    fill()


def fill() -> None:
    """Index what is stored already, a piece at a time."""
    connection = op.get_bind()
    query = sa.text(
        "SELECT v.id, v.tool_id, b.enc, b.body FROM tool_version v JOIN blob b ON b.sha256 = v.definition_sha "
        "WHERE v.id > :after ORDER BY v.id LIMIT :piece"
    )
    name = sa.text("INSERT INTO field_name (name) VALUES (:name) ON CONFLICT DO NOTHING")
    use = sa.text(
        "INSERT INTO tool_field (tool_id, field_id, part) SELECT :tool, id, :part FROM field_name WHERE name = :name "
        "ON CONFLICT DO NOTHING"
    )
    after = 0
    while rows := connection.execute(query, {"after": after, "piece": PIECE}).all():
        after = rows[-1][0]
        found = {(tool, *place) for _, tool, enc, body in rows for place in fields(enc, bytes(body))}
        if found:
            connection.execute(name, [{"name": escaped} for escaped in sorted({place[2] for place in found})])
            connection.execute(use, [{"tool": tool, "part": part, "name": text} for tool, part, text in sorted(found)])


def fields(enc: str, body: bytes) -> set[tuple[str, str]]:
    try:
        definition = json.loads(zlib.decompress(body) if enc == "zlib" else body)
    except (ValueError, RecursionError):
        return set()
    found: set[tuple[str, str]] = set()
    for part in ("input", "output") if isinstance(definition, dict) else ():
        queue = [definition.get(f"{part}Schema")]
        while queue and len(found) < MAX_FIELDS:
            node = queue.pop()
            if isinstance(node, list):
                queue.extend(node)
            elif isinstance(node, dict):
                named = node.get("properties")
                if isinstance(named, dict):
                    found |= {(part, escape(key)) for key in named if 0 < len(key) <= MAX_NAME}
                    queue.extend(named.values())
                queue.extend(value for key, value in node.items() if key != "properties" and key not in VALUES)
    return found


def escape(text: str) -> str:
    """As driftwatch.db.types.escape was when this was written: what Postgres refuses in text, spelled out."""
    return "".join(
        "\\\\" if c == "\\" else f"\\u{ord(c):04x}" if c == "\0" or "\ud800" <= c <= "\udfff" else c for c in text
    )
