"""What changed, in words people can act on: one module per rule family, one registry, graded by local proofs."""

from __future__ import annotations

from typing import Final

from driftwatch.classify.findings import (
    bounds,
    dialects,
    enums,
    hints,
    objects,
    patterns,
    presence,
    properties,
    readings,
    references,
    servers,
    types,
    unions,
    wording,
)
from driftwatch.classify.findings.rule import Rule

_FAMILIES: Final = (
    *(presence, properties, types, enums, objects, bounds, patterns, unions, references, dialects),
    *(readings, wording, hints, servers),
)

#: every rule by its id, family by family
RULES: Final[dict[str, Rule]] = {rule.id: rule for family in _FAMILIES for rule in family.RULES}
