"""A message about an alert, before any channel renders it. Pure.

One message per changeset: one tool in full, several tools grouped by what happened to them. Names and sentences hold
server text; channels pass every string through ``safe_text`` and never let it format, link or mention.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

import msgspec

from driftwatch.alerts import words
from driftwatch.alerts.policy import SEVERITIES
from driftwatch.announcement.guide import how_to_announce
from driftwatch.history.views import ChangeView

_SENTENCES: Final = 3
_GROUPS: Final = 8
_NAMES: Final = 6
_PROOF: Final = 600


class Paragraph(msgspec.Struct, frozen=True):
    """A piece of a message. ``code`` is preformatted; in the others backticks mark code. ``note`` is small print."""

    kind: Literal["text", "code", "do", "note"]
    text: str


class Link(msgspec.Struct, frozen=True):
    """A link to one of our own pages."""

    url: str
    text: str


class Button(msgspec.Struct, frozen=True):
    """A button of a channel that has them. ``value`` comes back when it is pressed."""

    action: str
    text: str
    value: str


class Message(msgspec.Struct, frozen=True):
    """What a channel renders. ``fallback`` is the whole of it in one line, for notifications and screen readers."""

    title: str
    fallback: str
    paragraphs: tuple[Paragraph, ...]
    links: tuple[Link, ...]
    buttons: tuple[Button, ...] = ()


def to_json(message: Message) -> dict[str, object]:
    """The message as it is stored in the outbox."""
    built: dict[str, object] = msgspec.to_builtins(message)
    return built


def from_json(stored: object) -> Message:
    """The message back from the outbox."""
    return msgspec.convert(stored, Message)


@dataclass(frozen=True, slots=True)
class Told:
    """A change with what the policy decided about it."""

    change: ChangeView
    line: str
    outcome: str
    severity: str | None


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a message is about. ``public_url`` has no trailing slash."""

    server: str
    server_id: int
    owner: str | None
    changeset_id: int
    public_url: str


@dataclass(frozen=True, slots=True)
class ToolDrift:
    """What happened to one tool name, over all profiles that saw it; ``told`` is the worst of them."""

    told: Told
    eras: frozenset[str]

    @property
    def change(self) -> ChangeView:
        """The worst change of the tool."""
        return self.told.change


def drift_title(subject: Subject, told: Sequence[Told]) -> str:
    """The title of an alert: what kind of drift, and where."""
    drifts = by_tool(told)
    worst = drifts[0]
    where = words.short(worst.change.tool) if len(drifts) == 1 else words.counted(len(drifts), "tool")
    return f"{words.headline(worst.told.line, worst.change.announcement)} · {subject.server} / {where}"


def drift_message(subject: Subject, told: Sequence[Told], *, preface: str | None = None) -> Message:
    """The message about a changeset. At least one of ``told`` alerts; the quiet ones are only counted.

    ``preface``: why a second message about an alert comes, for example that it is back.
    """
    drifts = by_tool(told)
    quiet = _quiet(told, drifts)
    body = _one(drifts[0], subject, quiet) if len(drifts) == 1 else _several(drifts, subject, quiet)
    first = [Paragraph("note", preface)] if preface else []
    title = drift_title(subject, told)
    return Message(title, _fallback(title, drifts), (*first, *body), _links(subject, drifts))


def reverted_message(subject: Subject, told: Sequence[Told]) -> Message:
    """Tells those who heard of a drift that the accepted contract is back."""
    drifts = _grouped(told)
    where = words.short(drifts[0].change.tool) if len(drifts) == 1 else words.counted(len(drifts), "tool")
    names = _names([d.change.tool for d in drifts])
    title = f"✓ Back at the accepted contract · {subject.server} / {where}"
    end = words.since(*max((d.change.window for d in drifts), key=lambda window: window[1]))
    paragraphs = (
        Paragraph("text", f"{names} {'is' if len(drifts) == 1 else 'are'} as accepted again."),
        Paragraph("do", f"restart clients started while it was different, before {end}."),
        _facts(drifts[0]),
        _people(drifts, subject),
    )
    return Message(title, f"{title}: {names}".replace("`", ""), paragraphs, _links(subject, drifts))


def by_tool(told: Sequence[Told]) -> list[ToolDrift]:
    """The alerting tools, worst first; a tool seen to change by several kinds of clients is one."""
    return _grouped([t for t in told if t.outcome == "alert"])


def _grouped(told: Sequence[Told]) -> list[ToolDrift]:
    ordered = sorted(told, key=lambda t: t.change.tool)
    drifts = [
        ToolDrift(min(group, key=_rank), frozenset(t.change.era for t in group))
        for group in (list(members) for _, members in groupby(ordered, key=lambda t: t.change.tool))
    ]
    return sorted(drifts, key=lambda d: _rank(d.told))


def _rank(told: Told) -> tuple[int, bool, int]:
    known = [index for index, severity in enumerate(SEVERITIES) if severity == told.severity]
    return (known or [len(SEVERITIES)])[0], words.proof(told.change) is None, told.change.id


def _quiet(told: Sequence[Told], drifts: Sequence[ToolDrift]) -> list[str]:
    """How many tools changed beside the alerting ones without concerning anybody, in words; empty for none."""
    alerting = {d.change.tool for d in drifts}
    others = {t.change.tool: t.change.verdict for t in told if t.change.tool not in alerting}
    noun = "compatible change" if set(others.values()) <= {"compatible"} else "quiet change"
    return [f"+{words.counted(len(others), noun)}."] if others else []


def _one(drift: ToolDrift, subject: Subject, quiet: Sequence[str]) -> Iterable[Paragraph]:
    said = words.sentences(drift.change)
    more = len(said) - _SENTENCES
    text = " ".join(words.sentence(s) for s in said[:_SENTENCES])
    yield Paragraph("text", "  ".join([text, *([f"+{more} more."] if more > 0 else []), *quiet]))
    yield from _proof(drift, named=False)
    if drift.told.line in words.BREAKS and drift.change.verdict in {"compatible", "undecided"}:
        yield Paragraph("note", "The last step alone is harmless; against the contract that was accepted it is not.")
    yield Paragraph("do", words.do(drift.change, drift.told.line, subject.owner))
    yield _facts(drift)
    yield _people([drift], subject)


def _several(drifts: Sequence[ToolDrift], subject: Subject, quiet: Sequence[str]) -> Iterable[Paragraph]:
    labels = Counter(words.label(d.told.line) for d in drifts)
    kinds = ", ".join(f"{count} {label}" for label, count in labels.items())
    yield Paragraph("text", "  ".join([f"{words.counted(len(drifts), 'tool')} changed at once: {kinds}.", *quiet]))
    groups = _causes(drifts)
    for group in groups[:_GROUPS]:
        yield Paragraph("text", _group(group))
    left = groups[_GROUPS:]
    if left:
        tools = sum(len(g) for g in left)
        yield Paragraph("text", f"+{tools} more changed in other ways, listed on the page.")
    yield from _proof(drifts[0], named=True)
    gone = [drift.change.tool for drift in drifts if drift.change.kind == "removed"]
    yield Paragraph("do", words.do(drifts[0].change, drifts[0].told.line, subject.owner, gone, tools=len(drifts)))
    yield _facts(drifts[0], versions=False)
    yield _people(drifts, subject)


def _causes(drifts: Sequence[ToolDrift]) -> list[list[ToolDrift]]:
    """The drifts grouped by cause: worst severity first, then the biggest group."""
    groups = dict[tuple[str, str], list[ToolDrift]]()
    for drift in drifts:
        groups.setdefault((drift.told.line, _cause(drift)), []).append(drift)
    return sorted(groups.values(), key=lambda g: (_rank(g[0].told)[0], -len(g)))


def _cause(drift: ToolDrift) -> str:
    if drift.change.kind in {"added", "removed", "restored"}:
        return drift.change.kind
    return words.sentences(drift.change)[0].replace(words.code(drift.change.tool), "")


def _group(group: Sequence[ToolDrift]) -> str:
    names = _names([d.change.tool for d in group])
    first = group[0]
    glyph = words.verdict_glyph(first.told.line)
    if first.change.kind == "removed":
        return f"{glyph} {names} {'is' if len(group) == 1 else 'are'} gone"
    said = words.sentences(first.change)
    more = f" (+{len(said) - 1} more)" if len(said) > 1 else ""
    # a sentence that names its tool was written for one of them
    each = said[0] if len(group) == 1 else said[0].replace(words.code(first.change.tool), "each of them")
    return f"{glyph} {names}: {each}{more}"


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(words.code(n) for n in names[:_NAMES])
    return f"{shown} +{len(names) - _NAMES} more" if len(names) > _NAMES else shown


def _proof(drift: ToolDrift, *, named: bool) -> Iterable[Paragraph]:
    proof = words.proof(drift.change)
    if proof is None:
        return
    intro, value = proof
    yield Paragraph("text", f"{words.code(drift.change.tool)}: {intro}" if named else intro)
    if value is not None:
        yield Paragraph("code", words.short(value, _PROOF))


def _facts(drift: ToolDrift, *, versions: bool = True) -> Paragraph:
    change = drift.change
    between = words.window(*change.window)
    facts = [
        f"{words.versions(change)}, {between}" if versions else between,
        words.evidence(change),
        words.server_version(change),
    ]
    return Paragraph("note", " · ".join(f for f in facts if f))


def _people(drifts: Sequence[ToolDrift], subject: Subject) -> Paragraph:
    owner = words.owner(subject.owner)
    return Paragraph("note", f"{owner} · {words.seen_by(e for d in drifts for e in d.eras)}")


def _links(subject: Subject, drifts: Sequence[ToolDrift]) -> tuple[Link, ...]:
    if len(drifts) == 1:
        change = drifts[0].change
        guide = how_to_announce(change.announcement, change.announcement_reason)
        more = () if guide is None else (Link(f"{subject.public_url}{guide}", "How to announce"),)
        return (Link(f"{subject.public_url}/changes/{change.id}", "Open change"), *more)
    return (Link(f"{subject.public_url}/changesets/{subject.changeset_id}", f"Open all {len(drifts)} changes"),)


def _fallback(title: str, drifts: Sequence[ToolDrift]) -> str:
    if len(drifts) > 1:
        return title
    return f"{title}: {words.sentences(drifts[0].change)[0]}".replace("`", "")
