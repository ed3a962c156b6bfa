"""What a search found besides servers: tools, fields of schemas, rules. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from driftwatch.classify.findings import RULES
from driftwatch.history.search_views import ToolHit
from driftwatch.web.pages import words
from driftwatch.web.pages.words import State

Kind = Literal["servers", "tools", "fields", "rules"]

#: hits shown of each kind; one more is asked for, to know whether there are more
CAP: Final = 20


@dataclass(frozen=True, slots=True)
class Place:
    """A tool that has what was searched for; ``eras`` in which it has it, ``where`` in its contract."""

    href: str
    server: str
    tool: str
    field: str
    where: str
    eras: str


@dataclass(frozen=True, slots=True)
class RuleHit:
    """A rule, and where its findings are listed."""

    id: str
    state: State
    words: str
    href: str
    changes_href: str


@dataclass(frozen=True, slots=True)
class Found:
    """The hits of each kind; ``more`` names the kinds of which there are more than shown."""

    tools: tuple[Place, ...] = ()
    fields: tuple[Place, ...] = ()
    rules: tuple[RuleHit, ...] = ()
    more: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """True when anything was found."""
        return bool(self.tools or self.fields or self.rules)


def tell(q: str, tools: Sequence[ToolHit], fields: Sequence[ToolHit]) -> Found:
    """Everything that is not a server; the same tool seen by several kinds of clients is one place."""
    rules = find_rules(q)
    named, holding = _places(tools), _places(fields)
    sizes = {"tools": len(named), "fields": len(holding), "rules": len(rules)}
    more = tuple(kind for kind, size in sizes.items() if size > CAP)
    return Found(tuple(named[:CAP]), tuple(holding[:CAP]), tuple(rules[:CAP]), more)


def find_rules(q: str) -> list[RuleHit]:
    """Rules whose id has the words, in the order of the registry."""
    wanted = q.lower().strip()
    return [
        RuleHit(rule.id, words.level(rule.level), rule.words, f"/rules/{rule.id}", f"/changelog?rule={rule.id}")
        for rule in RULES.values()
        if wanted and wanted.replace(" ", "-") in rule.id
    ]


def _places(hits: Sequence[ToolHit]) -> list[Place]:
    groups: dict[tuple[int, str, str], list[ToolHit]] = {}
    for hit in hits:
        groups.setdefault((hit.server_id, hit.tool, hit.field or ""), []).append(hit)
    return [
        Place(
            href=f"/tools/{group[0].tool_id}",
            server=group[0].server,
            tool=group[0].tool,
            field=group[0].field or "",
            where=" and ".join(dict.fromkeys(hit.part for hit in group if hit.part)),
            eras=", ".join(dict.fromkeys(hit.era for hit in group)),
        )
        for group in groups.values()
    ]
