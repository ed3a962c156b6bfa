"""Tables that make schemas searchable: every field name once, and which part of which tool ever had it."""

from sqlalchemy import BigInteger, Column, ForeignKey, Identity, Index, Text
from sqlmodel import Field, SQLModel

from driftwatch.db.types import EscapedText


class FieldName(SQLModel, table=True):
    """A property name that some schema ever declared. Far fewer than fields: a search looks through these."""

    __tablename__ = "field_name"

    id: int | None = Field(default=None, sa_column=Column(BigInteger, Identity(), primary_key=True))
    name: str = Field(sa_column=Column(EscapedText, nullable=False, unique=True))


class ToolField(SQLModel, table=True):
    """``part`` (input, output) of the tool has, or had, a field of this name."""

    __tablename__ = "tool_field"
    __table_args__ = (Index("ix_tool_field_field", "field_id", "tool_id"),)

    tool_id: int = Field(sa_column=Column(BigInteger, ForeignKey("tool.id", ondelete="CASCADE"), primary_key=True))
    field_id: int = Field(sa_column=Column(BigInteger, ForeignKey("field_name.id"), primary_key=True))
    part: str = Field(sa_column=Column(Text, primary_key=True))
