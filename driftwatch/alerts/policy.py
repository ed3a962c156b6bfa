"""Who hears of a change: the default policy, line by line. Pure.

Every line is data, so that a page can show the path ("why did this alert, or not") and so that lines can be replaced
per server or tag later. The first line that matches decides; the lines are ordered worst first, because a change has
several parts and the worst one must speak.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from driftwatch.alerts.ignores import Ignore, reduce
from driftwatch.history.views import ChangeView, FindingView, PartView

AlertOutcome = Literal["alert", "summary", "history"]
Severity = Literal["critical", "warning", "notice"]

#: worst first
SEVERITIES: Final[tuple[Severity, ...]] = ("critical", "warning", "notice")

#: stands in a decision instead of a line when somebody asked not to hear of the change
IGNORED: Final = "ignored"

#: parts whose change alone concerns nobody's code
_WORDING: Final = frozenset({"text", "meta", "annotations"})


@dataclass(frozen=True, slots=True)
class Case:
    """A change as the lines see it. ``baseline_verdict``: of baseline -> current, when it differs from the change's."""

    change: ChangeView
    baseline_verdict: str | None = None
    back_at_baseline: bool = False

    @property
    def silent(self) -> bool:
        """We listened (or needed not to), and nothing announced it."""
        return self.change.announcement == "silent"

    @property
    def announced(self) -> bool:
        """A list_changed announced it."""
        return self.change.announcement == "announced"

    @property
    def invalid(self) -> bool:
        """Client SDKs refuse the new definition."""
        return self._has_verdict("invalid")

    @property
    def undecided(self) -> bool:
        """The classifier could not prove it either way."""
        return self._has_verdict("undecided")

    @property
    def breaks_declared(self) -> bool:
        """Breaking, proved by a value that uses declared keys only."""
        if self.baseline_verdict == "breaking":
            return True
        return any(p.verdict == "breaking" and p.via in {"declared", None} for p in self.change.parts)

    @property
    def output_semantics_changed(self) -> bool:
        """The output schema accepts or means something else than before, not only its words changed."""
        return self.change.kind == "changed" and any(p.part == "output" and is_semantic(p) for p in self.change.parts)

    @property
    def hint_less_safe(self) -> bool:
        """A readOnlyHint was lost, destructiveHint gained, or the like."""
        return any(less_safe(f) for p in self.change.parts for f in p.findings)

    @property
    def noise(self) -> bool:
        """Volatile or an SDK's own mark: nothing a person wrote or a client reads."""
        return bool(self.change.facts.get("noise"))

    @property
    def wording_only(self) -> bool:
        """Only text, hints or annotation-level keywords changed."""
        return self.change.kind == "changed" and not any(
            p.part not in _WORDING and is_semantic(p) for p in self.change.parts
        )

    def _has_verdict(self, verdict: str) -> bool:
        if self.change.verdict == verdict or self.baseline_verdict == verdict:
            return True
        return any(p.verdict == verdict for p in self.change.parts)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the policy. ``words`` complete the sentence "told, because …" or "not told, because …"."""

    id: str
    words: str
    matches: Callable[[Case], bool]
    outcome: AlertOutcome
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A line that was asked, and whether it matched."""

    line: str
    matched: bool
    words: str


@dataclass(frozen=True, slots=True)
class PolicyDecision:
    """What the policy says about one change; ``path`` holds every line asked, the matching one last."""

    outcome: AlertOutcome
    line: str
    severity: Severity | None
    path: tuple[Step, ...]


def is_semantic(part: PartView) -> bool:
    """True unless everything known about a part is annotation level: words, defaults, examples, the dialect's mark."""
    if part.verdict != "compatible":
        return True
    if part.reason in {"same-meaning", "annotations-only"}:
        return False
    return not part.findings or any(f.level != "annotation" and f.rule != "dialect-changed" for f in part.findings)


def less_safe(finding: FindingView) -> bool:
    """True for a tool hint that became less safe."""
    return finding.rule == "tool-annotations-changed" and finding.level in {"breaking", "warning"}


DEFAULT_LINES: Final[tuple[Line, ...]] = (
    Line(
        "back-at-baseline",
        "the contract that was accepted last is back",
        lambda c: c.back_at_baseline,
        "summary",
    ),
    Line("invalid", "client SDKs refuse the new definition", lambda c: c.invalid, "alert", "critical"),
    Line("tool-removed", "the tool is gone", lambda c: c.change.kind == "removed", "alert", "critical"),
    Line(
        "silent-break",
        "it breaks clients and nothing announced it",
        lambda c: c.breaks_declared and c.silent,
        "alert",
        "critical",
    ),
    Line(
        "unknown-break",
        "it breaks clients and we could not hear whether it was announced",
        lambda c: c.breaks_declared and not c.announced,
        "alert",
        "critical",
    ),
    Line("announced-break", "it breaks clients, announced", lambda c: c.breaks_declared, "alert", "warning"),
    Line("undecided", "nobody can say yet that it breaks nothing", lambda c: c.undecided, "alert", "warning"),
    Line("less-safe-hint", "a hint became less safe", lambda c: c.hint_less_safe, "alert", "warning"),
    Line("noise", "known noise: volatile or written by an SDK", lambda c: c.noise, "history"),
    Line(
        "silent-output-change",
        "an output schema changed its meaning and nothing announced it",
        lambda c: c.output_semantics_changed and c.silent,
        "alert",
        "notice",
    ),
    Line("wording-only", "only words changed; no client's code reads them", lambda c: c.wording_only, "history"),
    Line("everything-else", "it breaks no client that uses declared keys", lambda c: True, "summary"),
)


def decidable(change: ChangeView) -> bool:
    """False while the change is not judged yet, or while its announcement may still arrive."""
    return change.state == "judged" and change.announcement not in {None, "pending"}


def decide(
    change: ChangeView,
    *,
    baseline_verdict: str | None = None,
    back_at_baseline: bool = False,
    lines: Sequence[Line] = DEFAULT_LINES,
    ignores: Sequence[Ignore] = (),
) -> PolicyDecision | None:
    """Whether a judged change alerts, goes to the daily summary, or only to history; None while not decidable.

    ``baseline_verdict``: the verdict of baseline -> current where it is worse than the change's own.
    ``back_at_baseline``: the change returned the tool to what was accepted last. The last of ``lines`` must match
    everything. A change that alerts only by what ``ignores`` take away goes to history.
    """
    if not decidable(change):
        return None
    plain = _walk(lines, Case(change, baseline_verdict, back_at_baseline))
    left, used = reduce(change, ignores) if plain.outcome == "alert" else (change, ())
    if not used:
        return plain
    reduced = None if left is None else _walk(lines, Case(left, baseline_verdict, back_at_baseline))
    if reduced is not None and reduced.outcome == "alert":
        return reduced
    words = "; ".join(f"ignore rule {ignore.id}: {ignore.reason}" for ignore in used)
    asked = tuple(Step(step.line, False, step.words) for step in plain.path)
    return PolicyDecision(
        "history", IGNORED, None, (*asked, Step(IGNORED, True, f"somebody asked not to hear of it ({words})"))
    )


def _walk(lines: Sequence[Line], case: Case) -> PolicyDecision:
    path: list[Step] = []
    for line in lines:
        matched = line.matches(case)
        path.append(Step(line.id, matched, line.words))
        if matched:
            return PolicyDecision(line.outcome, line.id, line.severity, tuple(path))
    raise ValueError("the last line of a policy must match every change")


def worst(severities: Iterable[str | None]) -> Severity | None:
    """The worst of some severities; None for none."""
    given = set(severities)
    return next((severity for severity in SEVERITIES if severity in given), None)
