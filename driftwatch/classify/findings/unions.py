"""Rules about the shapes a value may have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from driftwatch.classify.findings.rule import Draft, Example, Rule, name
from driftwatch.classify.findings.types import NARROWED
from driftwatch.classify.findings.view import Document, view
from driftwatch.classify.findings.walk import Spot, paired_branches, tag, unmatched_branches
from driftwatch.classify.keywords import escape

_TEXT: Final = {"type": "object", "properties": {"kind": {"const": "text"}}, "required": ["kind"]}
_IMAGE: Final = {"type": "object", "properties": {"kind": {"const": "image"}}, "required": ["kind"]}
_LINK: Final = {"type": "object", "properties": {"kind": {"const": "link"}}, "required": ["kind"]}

BRANCH_ADDED: Final = Rule(
    id="output-union-branch-added",
    level="breaking",
    direction="output",
    effect="widens",
    why="Readers that handle each known shape meet one they do not know.",
    words='`part` may now have another shape: kind "link"',
    example=Example(
        {"type": "object", "properties": {"part": {"anyOf": [_TEXT, _IMAGE]}}},
        {"type": "object", "properties": {"part": {"anyOf": [_TEXT, _IMAGE, _LINK]}}},
    ),
)
RULES: Final = (BRANCH_ADDED,)


def check(spot: Spot) -> Iterator[Draft]:
    """Branches that one side has and the other does not."""
    if not (spot.old.branches and spot.new.branches):
        return
    gone, come = unmatched_branches(spot)
    paired = paired_branches(spot)
    if spot.direction == "output":
        for branch, at in come:
            if not any(branch is right for _, right, _ in paired):
                message = f"{spot.subject} may now have another shape: {_shape(spot.new.document, branch)}"
                where = spot.pointer + "".join(f"/{escape(token)}" for token in at)
                yield Draft(BRANCH_ADDED, where, message, spot.local)
        return
    for branch in gone:
        if not any(branch is left for left, _, _ in paired):
            message = f"{spot.subject} may no longer have the shape {_shape(spot.old.document, branch)}"
            yield Draft(NARROWED, spot.pointer, message, spot.local)


def _shape(document: Document, branch: Any) -> str:
    seen = view(document, branch, "")
    told = tag(document, branch) or ""
    if "=" in told:
        key, _, value = told.partition("=")
        return f"{key} {value}"
    title = seen.words.get("title")
    if isinstance(title, str):
        return name(title)
    if seen.reference is not None:
        return name(seen.reference.rsplit("/", 1)[-1])
    return " or ".join(sorted(seen.types)) if seen.types else "something else"
