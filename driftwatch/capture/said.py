"""What a server says of itself beside its tools: part of the watched snapshot, and findings about it. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from driftwatch.capture.conformance import hidden_at
from driftwatch.capture.model import ConformanceFinding
from driftwatch.wire.facts import Listing

#: the fields of a snapshot beside its tools, as they are stored and told of
FIELDS: Final = ("protocol_version", "server_info", "instructions", "capabilities")


@dataclass(frozen=True, slots=True)
class Said:
    """``sha256`` is equal for two lists iff the server says the same of itself and leaves the same fields out."""

    sha256: bytes
    findings: tuple[ConformanceFinding, ...]


def said(listing: Listing) -> Said:
    """What one complete walk of the list came with."""
    facts = listing.facts
    fields = {name: getattr(facts, name) for name in FIELDS} | {"flaws": listing.flaws}
    spelled = json.dumps(fields, sort_keys=True, default=dict)
    return Said(hashlib.sha256(spelled.encode()).digest(), tuple(_findings(listing)))


def _findings(listing: Listing) -> Iterator[ConformanceFinding]:
    facts, info = listing.facts, listing.facts.server_info
    if listing.flaws:
        absent = any(flaw.startswith("no ") for flaw in listing.flaws)
        who = "Python and TypeScript" if absent else "TypeScript"
        message = f"{', '.join(listing.flaws)}: modern {who} clients lose the whole list"
        yield ConformanceFinding("cache-hints", "", message)
    for value, pointer in ((facts.instructions, "/instructions"), (info, "/serverInfo")):
        place = hidden_at(value, pointer)
        if place is not None:
            yield ConformanceFinding("hidden-characters", place, "holds characters that people cannot see")
    if not (info or {}).get("version"):
        message = "serverInfo states no version: a new deploy of the same tools cannot be told from no deploy"
        yield ConformanceFinding("no-server-version", "/serverInfo", message)
    if not facts.tools_declared:
        message = "lists tools and declares no tools capability: clients that look at it ask for none"
        yield ConformanceFinding("tools-undeclared", "/capabilities", message)
