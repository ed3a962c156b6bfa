"""How many messages people get from real releases: ``python benchmarks/alert_volume.py ../shared/data/corpus``.

Replays consecutive published versions of real servers through capture, classifier and policy as if each release were
deployed while we listened and nobody announced anything: one release is one changeset, so at most one message. Prints
messages per release and the share that carries a break, a removal, an undecided or an invalid definition, for the
default policy and for three others, and which lines of the policy spoke.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from driftwatch.alerts.policy import PolicyDecision, decide, is_semantic
from driftwatch.capture.model import Snapshot, ToolDefinition
from driftwatch.capture.noise import noise_class
from driftwatch.capture.snapshot import take
from driftwatch.classify.tool import Assessment, assess
from driftwatch.errors import CaptureError
from driftwatch.history.views import ChangeView, FindingView, PartView
from driftwatch.wire.facts import Era

GRAVE = frozenset({"invalid", "tool-removed", "silent-break", "unknown-break", "undecided"})
AT = datetime(2026, 1, 1, tzinfo=UTC)
SERVERS, RELEASES_A_DAY = 300, 1 / 30


@dataclass
class Policy:
    """One way to choose what is told, and what it told."""

    name: str
    messages: int = 0
    grave: int = 0

    def row(self, releases: int) -> str:
        """Its line of the table."""
        per = self.messages / releases
        share = self.grave / self.messages if self.messages else 0.0
        return f"| {self.name:48} | {per:7.2f} | {per * SERVERS * RELEASES_A_DAY:7.1f} | {share:6.0%} |"


@dataclass
class Replay:
    """What a replay counted."""

    releases: int = 0
    servers: set[str] = field(default_factory=set)
    lines: Counter[str] = field(default_factory=Counter)
    worst: Counter[str] = field(default_factory=Counter)
    policies: dict[str, Policy] = field(
        default_factory=lambda: {
            key: Policy(name)
            for key, name in {
                "any": "any byte",
                "schema": "every silent schema change",
                "ours": "the default policy",
                "grave": "declared breaking, removed, undecided, invalid",
            }.items()
        }
    )


def releases(folder: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Each server's stable releases in order."""
    for path in sorted(folder.glob("published-*.jsonl")):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        yield path.stem.removeprefix("published-"), sorted(rows, key=lambda row: row["release_index"])


def snapshot(row: dict[str, Any]) -> Snapshot:
    """The tools of a release as a poll of a 2025-11-25 client captures them."""
    return take(
        [json.dumps(tool, ensure_ascii=False).encode("utf-8", "surrogatepass") for tool in row["tools"]], era=Era.LEGACY
    )


def changes(old: Snapshot, new: Snapshot) -> Iterator[tuple[ChangeView, PolicyDecision]]:
    """Every tool that changed, classified, silent, with what the default policy says."""
    for name in sorted({*old.tools, *new.tools}):
        before, after = old.tools.get(name), new.tools.get(name)
        if before is not None and after is not None and before.sha256 == after.sha256:
            continue
        view = change_view(name, before, after, assess(before, after, era=Era.LEGACY))
        decision = decide(view)
        if decision is not None:
            yield view, decision


def change_view(
    name: str, before: ToolDefinition | None, after: ToolDefinition | None, found: Assessment
) -> ChangeView:
    """The change as history shows it."""
    kind = "added" if before is None else "removed" if after is None else "changed"
    parts = tuple(
        PartView(
            str(p.part),
            p.verdict,
            p.via,
            p.reason,
            None,
            tuple(FindingView(f.rule, f.pointer, f.level, f.effect, f.message) for f in p.findings),
        )
        for p in found.parts
    )
    return ChangeView(
        id=1,
        changeset_id=1,
        server_id=1,
        server="server",
        profile_id=1,
        era="legacy",
        tool_id=1,
        tool=name,
        kind=kind,
        from_version=1,
        to_version=2,
        verdict=found.verdict,
        via=found.via,
        part=None if found.part is None else str(found.part),
        announcement="silent",
        announcement_reason="not-declared",
        window=(AT, AT),
        recorded_at=AT,
        state="judged",
        facts={"noise": noise(before, after)},
        parts=parts,
    )


def noise(before: ToolDefinition | None, after: ToolDefinition | None) -> str | None:
    """The noise class of a change between two readable definitions."""
    if before is None or after is None:
        return None
    try:
        old, new = before.parsed(), after.parsed()
    except CaptureError:
        return None
    return noise_class(old, new, frozenset()) if isinstance(old, dict) and isinstance(new, dict) else None


def replay(folder: Path) -> Replay:
    """Every pair of consecutive releases."""
    counted = Replay()
    for server, rows in releases(folder):
        for earlier, later in pairwise(rows):
            if later["release_index"] - earlier["release_index"] != 1:
                continue
            counted.releases += 1
            counted.servers.add(server)
            count(counted, list(changes(snapshot(earlier), snapshot(later))))
    return counted


def count(counted: Replay, found: list[tuple[ChangeView, PolicyDecision]]) -> None:
    """Add one release."""
    alerting = [d for _, d in found if d.outcome == "alert"]
    grave = any(d.line in GRAVE for d in alerting)
    # a tool that is new changes no schema that anybody holds
    schema = any(
        v.kind == "removed" or (v.kind == "changed" and p.part in {"input", "output"} and is_semantic(p))
        for v, _ in found
        for p in v.parts
    )
    told = {
        "any": bool(found),
        "schema": schema,
        "ours": bool(alerting),
        "grave": grave,
    }
    for key, policy in counted.policies.items():
        policy.messages += told[key]
        policy.grave += told[key] and grave
    counted.lines.update(d.line for _, d in found)
    counted.worst[min((d.line for d in alerting), key=list(GRAVE_ORDER).index, default="nobody told")] += 1


GRAVE_ORDER = ("invalid", "tool-removed", "silent-break", "undecided", "less-safe-hint", "silent-output-change")


def main(folder: Path) -> None:
    """Print the table."""
    counted = replay(folder)
    print(f"{counted.releases} releases of {len(counted.servers)} servers, one after the other; nobody announced.\n")
    print("| policy | messages a release | a day with 300 servers, monthly releases | carries a break |")
    print("|---|---|---|---|")
    for policy in counted.policies.values():
        print(policy.row(counted.releases))
    print("\nThe worst line of each release:")
    for line, number in counted.worst.most_common():
        print(f"  {number:4}  {line}")
    print("\nChanges by the line that decided:")
    for line, number in counted.lines.most_common():
        print(f"  {number:4}  {line}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
