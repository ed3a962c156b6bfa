"""The table of the installation itself."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Column, DateTime, LargeBinary, SmallInteger, func
from sqlmodel import Field, SQLModel


class Installation(SQLModel, table=True):
    """What is true of this database as a whole: one row, ``id`` 1.

    ``key_check`` is a known text sealed with the secret key: a process with other keys cannot open it and stops,
    instead of writing credentials that nobody else can read.
    """

    __table_args__ = (CheckConstraint("id = 1", name="ck_installation_one_row"),)

    id: int = Field(
        default=1, sa_column=Column(SmallInteger, primary_key=True, autoincrement=False, server_default="1")
    )
    key_check: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    created_at: datetime | None = Field(
        default=None, sa_column=Column(DateTime(timezone=True), nullable=False, server_default=func.now())
    )
