"""A tool list becomes a Snapshot: one bad entry never loses the others, and order means nothing."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from driftwatch.capture import conformance
from driftwatch.capture.canonical import canonical, duplicate_keys, parse, rescue_name
from driftwatch.capture.digest import part_digests, schemas, semantic_digests
from driftwatch.capture.model import ConformanceFinding, Invalid, Snapshot, ToolDefinition
from driftwatch.errors import CaptureError
from driftwatch.wire.facts import Era

MAX_NAME: Final = 256
#: Unchanged definitions come again at every poll whose order differs; what is remembered stays below about 64 MB.
_REMEMBERED: Final = 2048
_REMEMBER_BELOW: Final = 16 * 1024


def take(tools: Sequence[bytes], *, era: Era) -> Snapshot:
    """The snapshot of the verbatim list entries ``tools`` (any JSON each, even ``null``).

    Entries without a usable name become findings of the list. Equal duplicates collapse with a finding; different
    bodies under one name make that tool ``invalid`` with the digest of its sorted bodies.
    """
    by_name: defaultdict[str, list[ToolDefinition]] = defaultdict(list)
    nameless = 0
    for entry in tools:
        definition = define(entry, era)
        if definition is None:
            nameless += 1
        else:
            by_name[definition.name].append(definition)
    found = {name: same[0] if len(same) == 1 else _of_duplicates(same) for name, same in by_name.items()}
    findings = tuple(_list_findings(tuple(found.values()), nameless))
    return Snapshot(found, _fingerprint(found.values(), findings), findings)


def define(entry: bytes, era: Era) -> ToolDefinition | None:
    """The definition in one list entry; None when it has no usable name."""
    return (_remembered if len(entry) <= _REMEMBER_BELOW else _define)(entry, era)


def _define(entry: bytes, era: Era) -> ToolDefinition | None:
    try:
        value = parse(entry)
        name = _usable(value.get("name")) if isinstance(value, dict) else None
        return None if name is None else _read(entry, value, name, era)
    except CaptureError as error:
        name = _usable(rescue_name(entry))
        return None if name is None else _unreadable(entry, name, error)


_remembered = lru_cache(_REMEMBERED)(_define)


def _usable(name: Any) -> str | None:
    return name if isinstance(name, str) and 0 < len(name) <= MAX_NAME else None


def _read(entry: bytes, value: dict[str, Any], name: str, era: Era) -> ToolDefinition:
    form = canonical(value)
    findings = list(conformance.findings(value))
    repeated = duplicate_keys(entry)
    if repeated:
        findings.append(
            ConformanceFinding("duplicate-keys", "", f"an object holds a key twice: {conformance.short(repeated[0])}")
        )
    return ToolDefinition(
        name=name,
        verbatim=entry,
        canonical=form.data,
        canon_algo=form.algo,
        sha256=hashlib.sha256(form.data).digest(),
        part_shas=part_digests(value),
        semantic_shas=semantic_digests(value),
        invalid=conformance.why_invalid(value, era),
        findings=tuple(findings),
    )


def _unreadable(entry: bytes, name: str, error: CaptureError) -> ToolDefinition:
    return _invalid_bytes(name, entry, entry, Invalid(error.code, error.message, "tool"))


def _of_duplicates(same: Sequence[ToolDefinition]) -> ToolDefinition:
    """One definition for several entries of one name."""
    bodies = sorted({one.canonical: one for one in same}.items())
    if len(bodies) == 1:
        first = min(same, key=lambda one: one.verbatim)
        note = ConformanceFinding("duplicate-tool", "", "the list holds this tool more than once, each time the same")
        return replace(first, findings=(*first.findings, note))
    message = f"the list holds {len(bodies)} different tools of this name"
    verbatim = _joined(one.verbatim for _, one in bodies)
    canonical_form = _joined(body for body, _ in bodies)
    return _invalid_bytes(same[0].name, verbatim, canonical_form, Invalid("conflicting-duplicates", message, "tool"))


def _joined(bodies: Iterable[bytes]) -> bytes:
    return b"[" + b",".join(bodies) + b"]"


def _invalid_bytes(name: str, verbatim: bytes, body: bytes, why: Invalid) -> ToolDefinition:
    return ToolDefinition(
        name=name,
        verbatim=verbatim,
        canonical=body,
        canon_algo=0,
        sha256=hashlib.sha256(body).digest(),
        part_shas={},
        semantic_shas={"input": None, "output": None},
        invalid=why,
    )


def _list_findings(tools: Sequence[ToolDefinition], nameless: int) -> Iterable[ConformanceFinding]:
    if nameless:
        message = f"entries without a usable name (a string of 1 to {MAX_NAME} characters): {nameless}"
        yield ConformanceFinding("unusable-entry", "/tools", message)
    twice = sorted(one.name for one in tools if any(note.rule == "duplicate-tool" for note in one.findings))
    if twice:
        yield ConformanceFinding("duplicate-tool", "/tools", f"listed more than once: {_some(twice)}")
    shared = sorted(_sharing_an_id(tools))
    if shared:
        message = f"tools whose schemas share one $id, which a caching validator mixes up: {_some(shared)}"
        yield ConformanceFinding("shared-schema-id", "/tools", message)


def _sharing_an_id(tools: Sequence[ToolDefinition]) -> set[str]:
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for one in tools:
        if one.canon_algo and b'"$id":' in one.canonical:
            for schema in schemas(one.parsed()):
                if isinstance(schema.get("$id"), str):
                    owners[schema["$id"]].add(one.name)
    return set().union(*(names for names in owners.values() if len(names) > 1))


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more


def _fingerprint(tools: Iterable[ToolDefinition], notes: Sequence[ConformanceFinding]) -> bytes:
    digest = hashlib.sha256()
    for sha in sorted(one.sha256 for one in tools):
        digest.update(sha)
    for note in notes:
        digest.update(f"\0{note.rule}\0{note.message}".encode("utf-8", "surrogatepass"))
    return digest.digest()
