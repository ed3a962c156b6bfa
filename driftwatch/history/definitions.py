"""SQL of definitions: content-addressed blobs, versions, and the way back from rows to a ToolDefinition."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict
from typing import Any, Final

from sqlalchemy.dialects.postgresql import distinct_on, insert
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from driftwatch.capture.model import ConformanceFinding, Invalid, ToolDefinition
from driftwatch.db.stored import row_id
from driftwatch.errors import NotFoundError
from driftwatch.history.tables import Blob, Tool, ToolVersion

_WORTH_PACKING: Final = 256


async def store_blobs(session: AsyncSession, definitions: Iterable[ToolDefinition]) -> None:
    """Store what is not stored yet: canonical bytes, and the verbatim bytes where they differ."""
    rows = {}
    for one in definitions:
        rows[one.sha256] = _blob_row(one.sha256, one.canonical, one.canon_algo)
        if (verbatim := verbatim_sha(one)) is not None:
            rows.setdefault(verbatim, _blob_row(verbatim, one.verbatim, 0))
    if rows:
        # in order of key, so that two profiles that store the same definitions never wait for each other crosswise
        ordered = [rows[sha] for sha in sorted(rows)]
        query = insert(Blob)
        better = query.excluded.canon_algo
        # bytes are never overwritten; but what one server sends may be what another's definition is in canonical form
        query = query.on_conflict_do_update(
            index_elements=["sha256"], set_={"canon_algo": better}, where=col(Blob.canon_algo) < better
        )
        await session.exec(query, params=ordered)


def verbatim_sha(definition: ToolDefinition) -> bytes | None:
    """The key of the verbatim bytes; None when they are the canonical ones."""
    if definition.verbatim == definition.canonical:
        return None
    return hashlib.sha256(definition.verbatim).digest()


async def store_versions(session: AsyncSession, tools: Sequence[tuple[int, ToolDefinition]]) -> dict[int, int]:
    """The version of each (tool id, definition), made where it is new: tool id → version id.

    The caller holds the profile's lock, so numbers are given by one hand.
    """
    known = await _known_versions(session, [tool_id for tool_id, _ in tools])
    numbers = await _last_numbers(session, [tool_id for tool_id, _ in tools])
    found = {tool_id: known[key] for tool_id, one in tools if (key := (tool_id, one.sha256)) in known}
    fresh = [(tool_id, one) for tool_id, one in tools if tool_id not in found]
    if fresh:
        rows = [_version_row(tool_id, numbers.get(tool_id, 0) + 1, one) for tool_id, one in fresh]
        query = insert(ToolVersion).returning(col(ToolVersion.tool_id), col(ToolVersion.id))
        found |= {tool_id: row_id(version) for tool_id, version in (await session.exec(query, params=rows)).all()}
    return found


async def load_definitions(session: AsyncSession, version_ids: Collection[int]) -> dict[int, ToolDefinition]:
    """The definitions of these versions by version id."""
    query = (
        select(ToolVersion, Tool.name)
        .join(Tool, col(Tool.id) == col(ToolVersion.tool_id))
        .where(col(ToolVersion.id).in_(version_ids))
    )
    rows = (await session.exec(query)).all()
    shas = {sha for version, _ in rows for sha in (version.definition_sha, version.verbatim_sha) if sha is not None}
    blobs = {blob.sha256: blob for blob in (await session.exec(select(Blob).where(col(Blob.sha256).in_(shas)))).all()}
    return {row_id(version.id): _definition(version, name, blobs) for version, name in rows}


async def load_definition(session: AsyncSession, version_id: int) -> ToolDefinition:
    """One definition. Raises NotFoundError."""
    found = await load_definitions(session, [version_id])
    if version_id not in found:
        raise NotFoundError(f"There is no version {version_id}.", hint="Look at the versions of the tool.")
    return found[version_id]


def unpacked(blob: Blob) -> bytes:
    """The bytes of a blob."""
    return zlib.decompress(blob.body) if blob.enc == "zlib" else blob.body


async def _known_versions(session: AsyncSession, tool_ids: Collection[int]) -> dict[tuple[int, bytes], int]:
    query = select(ToolVersion.tool_id, ToolVersion.definition_sha, ToolVersion.id)
    rows = (await session.exec(query.where(col(ToolVersion.tool_id).in_(tool_ids)))).all()
    return {(tool_id, sha): row_id(version) for tool_id, sha, version in rows}


async def _last_numbers(session: AsyncSession, tool_ids: Collection[int]) -> dict[int, int]:
    query = (
        select(ToolVersion.tool_id, ToolVersion.number)
        .where(col(ToolVersion.tool_id).in_(tool_ids))
        .ext(distinct_on(col(ToolVersion.tool_id)))
        .order_by(col(ToolVersion.tool_id), col(ToolVersion.number).desc())
    )
    return dict((await session.exec(query)).all())


def _blob_row(sha: bytes, body: bytes, canon_algo: int) -> dict[str, Any]:
    packed = zlib.compress(body, 6) if len(body) >= _WORTH_PACKING else body
    smaller = len(packed) < len(body) * 0.9
    return {
        "sha256": sha,
        "canon_algo": canon_algo,
        "enc": "zlib" if smaller else "raw",
        "body": packed if smaller else body,
    }


def _version_row(tool_id: int, number: int, one: ToolDefinition) -> dict[str, Any]:
    return {
        "tool_id": tool_id,
        "number": number,
        "definition_sha": one.sha256,
        "verbatim_sha": verbatim_sha(one),
        "part_shas": dict(one.part_shas),
        "semantic_shas": dict(one.semantic_shas),
        "invalid": asdict(one.invalid) if one.invalid else None,
        "findings": [asdict(note) for note in one.findings] or None,
    }


def _definition(version: ToolVersion, name: str, blobs: dict[bytes, Blob]) -> ToolDefinition:
    blob = blobs[version.definition_sha]
    canonical = unpacked(blob)
    return ToolDefinition(
        name=name,
        verbatim=canonical if version.verbatim_sha is None else unpacked(blobs[version.verbatim_sha]),
        canonical=canonical,
        canon_algo=blob.canon_algo,
        sha256=version.definition_sha,
        part_shas=version.part_shas,
        semantic_shas=version.semantic_shas,
        invalid=Invalid(**version.invalid) if version.invalid else None,
        findings=tuple(ConformanceFinding(**note) for note in version.findings or ()),
    )
