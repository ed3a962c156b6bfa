"""Two schemas compared by meaning, field by field, each finding at the line it belongs to. Pure.

Moved keys are no change; a field that means the same is the same. Only the classifier says what a difference does:
here it is only found, worded and put next to the finding's words.
"""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from driftwatch.classify.findings.presence import INVALID
from driftwatch.history.views import FindingView
from driftwatch.web.pages import contract, words
from driftwatch.web.pages.contract import Contract, Row

Sign = Literal["", "~", "+", "-"]

MAX_SHOWN: Final = 400
#: unchanged rows in one stretch that are still shown; longer stretches fold
KEEP_UNCHANGED: Final = 8
_JOINTS: Final = frozenset({"or", "and", "then"})


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of words; ``fresh`` ones were not there before."""

    text: str
    fresh: bool


@dataclass(frozen=True, slots=True)
class Note:
    """A finding as its line shows it, the field's name left out where the line already says it."""

    state: words.State
    message: str
    rule: str
    pointer: str


@dataclass(frozen=True, slots=True)
class Line:
    """One field of the comparison. ``was`` and ``now`` are its words; ``need`` says required, optional, or was."""

    sign: Sign
    name: str
    depth: int
    was: str | None
    now: tuple[Piece, ...]
    need: str
    tone: str
    notes: tuple[Note, ...] = ()
    description: str | None = None
    was_description: str | None = None
    default: str | None = None
    was_default: str | None = None
    deprecated: bool = False


@dataclass(frozen=True, slots=True)
class Fold:
    """Unchanged fields in a row that are not shown."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Lines and folds in order; findings that belong to no line; how much was left out; whether anything differs."""

    lines: tuple[Line | Fold, ...]
    loose: tuple[Note, ...]
    left_out: int
    changed: int
    root_was: str | None
    root_now: str | None


def compare(
    old: Contract | None, new: Contract | None, findings: Sequence[FindingView] = (), *, fold: bool = True
) -> Comparison:
    """Compare two contracts; None is a schema that is not declared."""
    before = {row.path: row for row in old.rows} if old else {}
    after = {row.path: row for row in new.rows} if new else {}
    pairs = [(before.get(path), after.get(path)) for path in _order(before, after)]
    pairs = [pair for pair in pairs if not _only_implied(pair)]
    placed, loose = _place(pairs, findings)
    lines = [_line(old_row, new_row, notes) for (old_row, new_row), notes in zip(pairs, placed, strict=True)]
    shown, left_out = _cap(_folded(lines) if fold else lines)
    return Comparison(
        lines=tuple(shown),
        loose=tuple(loose),
        left_out=left_out + (old.left_out if old else 0) + (new.left_out if new else 0),
        changed=sum(1 for line in lines if line.sign),
        root_was=old.root if old else None,
        root_now=new.root if new else None,
    )


def plain(whole: Contract, *, fold: bool = False) -> Comparison:
    """One contract alone, in the same lines, nothing marked."""
    return compare(whole, whole, fold=fold)


def changed_only(comparison: Comparison) -> Comparison:
    """Only what differs, for the change page."""
    lines = tuple(item for item in comparison.lines if isinstance(item, Line) and item.sign)
    return Comparison(
        lines, comparison.loose, comparison.left_out, comparison.changed, comparison.root_was, comparison.root_now
    )


def pieces(old: str, new: str) -> tuple[Piece, ...]:
    """The new words, those that were not in the old ones marked."""
    before, after = old.split(), new.split()
    marked: list[tuple[str, bool]] = []
    for kind, _, _, start, end in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        marked.extend((word, kind != "equal" and word not in _JOINTS) for word in after[start:end])
    return tuple(
        Piece(" ".join(word for word, _ in group), fresh)
        for fresh, group in itertools.groupby(marked, key=lambda item: item[1])
    )


def _order(
    before: dict[tuple[contract.Segment, ...], Row], after: dict[tuple[contract.Segment, ...], Row]
) -> list[tuple[contract.Segment, ...]]:
    """The new order, with removed fields after the sibling they followed."""
    order = list(after)
    position = {path: index for index, path in enumerate(order)}
    extra: dict[int, list[tuple[contract.Segment, ...]]] = {}
    anchor = -1
    for path in before:
        if path in position:
            anchor = position[path]
        else:
            extra.setdefault(anchor, []).append(path)
    out = extra.get(-1, [])
    for index, path in enumerate(order):
        out.append(path)
        out.extend(extra.get(index, ()))
    return out


def _only_implied(pair: tuple[Row | None, Row | None]) -> bool:
    """True for a nested open object that nobody wrote down on either side."""
    return all(row is None or (row.implied and row.depth > 0) for row in pair)


def _place(
    pairs: Sequence[tuple[Row | None, Row | None]], findings: Iterable[FindingView]
) -> tuple[list[list[Note]], list[Note]]:
    at: dict[str, list[int]] = {}
    for index, pair in enumerate(pairs):
        for pointer in {p for row in pair if row for p in row.pointers}:
            at.setdefault(pointer, []).append(index)
    placed: list[list[Note]] = [[] for _ in pairs]
    loose: list[Note] = []
    for finding in findings:
        spots = _nearest(finding.pointer, at)
        for index in spots[:5]:
            row = pairs[index][1] or pairs[index][0]
            placed[index].append(_note(finding, row.name if row else ""))
        if not spots:
            loose.append(_note(finding, ""))
    return placed, loose


def _nearest(pointer: str, at: dict[str, list[int]]) -> list[int]:
    while pointer:
        if pointer in at:
            return at[pointer]
        pointer = pointer.rpartition("/")[0]
    return []


def _note(finding: FindingView, name: str) -> Note:
    message = finding.message.removeprefix(f"`{name}` ") if name else finding.message
    state = words.verdict("invalid") if finding.rule == INVALID.id else words.level(finding.level)
    return Note(state, message, finding.rule, finding.pointer)


def _line(old: Row | None, new: Row | None, notes: Sequence[Note]) -> Line:
    row = new or old
    if row is None:
        raise ValueError("a line needs an old or a new field")
    sign: Sign = "+" if old is None else "-" if new is None else "~" if _differs(old, new) or notes else ""
    was = old.words if old else None
    now = pieces(was, new.words) if new and was is not None and was != new.words else _whole(new)
    return Line(
        sign=sign,
        name=row.name,
        depth=min(row.depth, 2),
        was=was if new is None or (old and was != new.words) else None,
        now=now,
        need=_need(old, new),
        tone=_tone(sign, notes),
        notes=tuple(notes),
        description=row.description,
        was_description=old.description if old and new and old.description != new.description else None,
        default=row.default,
        was_default=old.default if old and new and old.default != new.default else None,
        deprecated=row.deprecated,
    )


def _differs(old: Row, new: Row) -> bool:
    seen = (old.words, old.required, old.default, old.description, old.deprecated)
    return seen != (new.words, new.required, new.default, new.description, new.deprecated)


def _whole(row: Row | None) -> tuple[Piece, ...]:
    return (Piece(row.words, fresh=False),) if row else ()


def _need(old: Row | None, new: Row | None) -> str:
    was, now = _need_word(old), _need_word(new)
    if new is None:
        return f"was {was}" if was else ""
    if old is None or was == now:
        return now
    return f"{now}, was {was}" if was and now else now


def _need_word(row: Row | None) -> str:
    if row is None or row.required is None:
        return ""
    return "required" if row.required else "optional"


def _tone(sign: Sign, notes: Sequence[Note]) -> str:
    if notes:
        order = {"breaking": 3, "undecided": 2, "compatible": 1}
        return max((note.state.tone for note in notes), key=lambda tone: order.get(tone, 0))
    return "note" if sign else ""


def _folded(lines: Sequence[Line]) -> list[Line | Fold]:
    """Long stretches of unchanged fields become one line, as long as anything changed at all."""
    if not any(line.sign for line in lines):
        return list(lines)
    out: list[Line | Fold] = []
    stretch: list[Line] = []
    for line in [*lines, None]:
        if line is not None and not line.sign:
            stretch.append(line)
            continue
        if len(stretch) > KEEP_UNCHANGED:
            kept = KEEP_UNCHANGED // 2
            out.extend(stretch[:kept])
            out.append(Fold(tuple(item.name for item in stretch[kept:-kept])))
            out.extend(stretch[-kept:])
        else:
            out.extend(stretch)
        stretch = []
        if line is not None:
            out.append(line)
    return out


def _cap(items: Sequence[Line | Fold]) -> tuple[list[Line | Fold], int]:
    """At most MAX_SHOWN lines, changed ones before unchanged ones, the order kept."""
    if len(items) <= MAX_SHOWN:
        return list(items), 0
    changed = [i for i, item in enumerate(items) if isinstance(item, Line) and item.sign]
    rest = [i for i, item in enumerate(items) if not (isinstance(item, Line) and item.sign)]
    keep = set((changed + rest)[:MAX_SHOWN])
    return [item for i, item in enumerate(items) if i in keep], len(items) - len(keep)
