"""Every rule's example is its test; and the findings of changes people make."""

# ruff: noqa: E501 - tables read best with one case per line

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from driftwatch.capture.snapshot import define
from driftwatch.classify import classify
from driftwatch.classify.findings import RULES, page
from driftwatch.classify.findings.rule import Rule
from driftwatch.classify.tool import assess
from driftwatch.wire.facts import Era

#: input rules without an output twin and the other way round, and why
UNPAIRED = {
    "input-optional-property-added": "output-property-added covers required and optional fields alike",
    "input-property-required-added": "a required output field is output-property-added",
    "output-union-branch-added": "a branch callers may no longer send is input-type-narrowed",
    "output-pattern-changed": "a new pattern for arguments is input-bounds-tightened",
    "output-format-changed": "a format of arguments refuses nothing: annotation-changed",
    "output-null-added": "null that callers may no longer send is input-type-narrowed",
    "output-schema-added": "an input schema is always there",
    "output-schema-removed": "an input schema is always there",
    "output-typescript-refuses": "no client validates arguments by the old schema",
    "output-typescript-lost": "clients compile output schemas only",
    "output-property-added": "see input-optional-property-added",
}
TWINS = {
    "output-property-removed": "input-property-removed",
    "output-property-made-optional": "input-property-made-required",
    "output-type-widened": "input-type-narrowed",
    "output-enum-value-added": "input-enum-value-removed",
    "output-object-opened": "input-object-closed",
    "output-bounds-relaxed": "input-bounds-tightened",
}


def of(subject: str) -> list[Rule]:
    return [rule for rule in RULES.values() if rule.subject == subject]


@pytest.mark.parametrize("rule", of("schema"), ids=lambda rule: rule.id)
def test_the_example_of_a_rule_about_schemas(rule: Rule) -> None:
    for direction in ("output", "input") if rule.direction == "both" else (rule.direction,):
        verdict = classify(rule.example.before, rule.example.after, direction=direction)
        found = [finding for finding in verdict.findings if finding.rule == rule.id]
        assert [finding.message for finding in found] == [rule.words]
        assert found[0].effect == rule.effect
        if verdict.via == "declared" or rule.level != "breaking":
            assert found[0].level == rule.level


@pytest.mark.parametrize("rule", of("tool"), ids=lambda rule: rule.id)
def test_the_example_of_a_rule_about_tools(rule: Rule) -> None:
    sides = [
        None if side is None else define(json.dumps(side).encode(), Era.MODERN)
        for side in (rule.example.before, rule.example.after)
    ]
    assessment = assess(sides[0], sides[1], era=Era.MODERN)
    found = [finding for part in assessment.parts for finding in part.findings if finding.rule == rule.id]
    assert [finding.level for finding in found] == [rule.level]
    if rule.id != "invalid-definition":  # its words quote the checker
        assert found[0].message == rule.words


def test_rules_about_servers_differ_before_and_after() -> None:
    assert all(rule.example.before != rule.example.after for rule in of("server"))


def test_the_rule_ids() -> None:
    assert sorted(RULES) == sorted(
        [
            "output-property-added",
            "output-property-removed",
            "output-property-made-optional",
            "output-type-widened",
            "output-null-added",
            "output-enum-value-added",
            "output-object-opened",
            "output-bounds-relaxed",
            "output-pattern-changed",
            "output-format-changed",
            "output-union-branch-added",
            "output-schema-added",
            "output-schema-removed",
            "output-typescript-refuses",
            "output-typescript-lost",
            "input-property-required-added",
            "input-property-made-required",
            "input-property-removed",
            "input-type-narrowed",
            "input-enum-value-removed",
            "input-bounds-tightened",
            "input-object-closed",
            "input-optional-property-added",
            "ref-target-changed",
            "annotation-changed",
            "description-changed",
            "default-changed",
            "dialect-changed",
            "tool-added",
            "tool-removed",
            "tool-annotations-changed",
            "protocol-version-changed",
            "version-is-the-sdks",
            "volatile",
            "hidden-characters",
            "invalid-definition",
        ]
    )


def test_input_and_output_rules_are_twins_or_say_why_not() -> None:
    directed = {rule.id for rule in RULES.values() if rule.direction != "both"}
    assert directed == UNPAIRED.keys() | TWINS.keys() | set(TWINS.values())


def test_the_pages_of_the_rules_are_current() -> None:
    pages = Path(__file__).parents[3] / "docs" / "rules"
    committed = {path.name: path.read_text() for path in pages.iterdir()}
    assert committed == page.folder(), "run: driftwatch rules --write docs/rules (and remove what it did not write)"


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_the_page_of_a_rule_says_what_the_rule_is(rule: Rule) -> None:
    text = page.markdown(rule)
    assert text.startswith(f"# {rule.id}\n")
    for said in (rule.words, rule.why, f"| {rule.level} | {rule.direction} | {rule.effect} |"):
        assert said in text
    shown = [json.loads(block) for block in re.findall(r"```json\n(.*?)\n```", text, re.DOTALL)]
    assert shown == [side for side in (rule.example.before, rule.example.after) if side is not None]


def test_every_rule_is_in_every_form_of_the_list() -> None:
    assert [rule["id"] for rule in json.loads(page.as_json())] == list(RULES)
    assert all(rule in page.text() for rule in RULES)


def found(old: Any, new: Any, direction: Any) -> list[tuple[str, str, str, str]]:
    verdict = classify(old, new, direction=direction)
    return [(f.level, f.rule, f.pointer, f.message) for f in verdict.findings]


def obj(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (obj(a=obj(b={"type": "string"})), obj(a=obj(b={"type": ["string", "null"]})),
         [("breaking", "output-null-added", "/properties/a/properties/b", "`a.b` may now be null")]),
        (obj(a={"type": "string"}), obj(a={"anyOf": [{"type": "string"}, {"type": "null"}]}),
         [("breaking", "output-null-added", "/properties/a", "`a` may now be null")]),
        (obj(tags={"type": "array", "items": {"enum": ["x"]}}), obj(tags={"type": "array", "items": {"enum": ["x", "y", 3]}}),
         [("breaking", "output-enum-value-added", "/properties/tags/items", '`tags[]` may now be "y" or 3')]),
        ({"$defs": {"O": obj(s={"type": "string"})}, **obj(o={"$ref": "#/$defs/O"})},
         {"$defs": {"O": obj(s={"type": "null"})}, **obj(o={"$ref": "#/$defs/O"})},
         [("breaking", "output-null-added", "/$defs/O/properties/s", "`o.s` may now be null")]),
        (obj(a={"type": "string"}), obj(a={"type": "string"}, b={"type": "string"}),
         [("info", "output-property-added", "/properties/b", "`b` is new in results")]),
        (obj(a={"type": "integer", "minimum": 1}), obj(a={"type": "integer", "minimum": 0}),
         [("breaking", "output-bounds-relaxed", "/properties/a/minimum", "`a` may now be below 1")]),
        (obj(a={"enum": ["x"]}), obj(a={"type": "string"}),
         [("breaking", "output-enum-value-added", "/properties/a", '`a` may now be any string (was "x")')]),
        ({"anyOf": [{"type": "string"}, {"type": "integer", "not": {"const": 0}}]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]},
         [("breaking", "output-bounds-relaxed", "/anyOf/1", "results may now be what was ruled out")]),
    ],
)  # fmt: skip
def test_findings_about_results(old: Any, new: Any, expected: list[tuple[str, str, str, str]]) -> None:
    assert found(old, new, "output") == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (obj(q={"type": "string"}), obj(q={"type": "string"}, r={"type": "string"}),
         [("warning", "input-optional-property-added", "/properties/r", "callers may now send `r`")]),
        (obj(q={"type": ["string", "null"]}), obj(q={"type": "string"}),
         [("breaking", "input-type-narrowed", "/properties/q", "`q` may no longer be null")]),
        (obj(q={"type": "string"}), obj(q={"type": "string", "pattern": "^a"}),
         [("breaking", "input-bounds-tightened", "/properties/q/pattern", "`q` must now match `^a`")]),
        (obj(q={"type": "string"}), obj(q={"enum": ["a", "b"]}),
         [("breaking", "input-enum-value-removed", "/properties/q", '`q` must now be "a" or "b"')]),
        (obj(q={"type": "string"}), obj(),
         [("info", "input-property-removed", "/properties/q", "`q` is no longer declared")]),
        (obj(k={"enum": ["u", "s"]}), obj(k={"oneOf": [{"type": "null"}, {"enum": ["u", "s"]}]}), []),
        (obj(q={"type": "array", "items": True}), obj(q={"type": "array", "items": False}),
         [("breaking", "input-type-narrowed", "/properties/q/items", "`q[]` is no longer accepted")]),
        (obj(q={"type": "integer"}), obj(q={"type": "integer", "maximum": 2**53 - 1}),
         [("warning", "input-bounds-tightened", "/properties/q/maximum", "`q` above 9007199254740991 is now refused")]),
    ],
)  # fmt: skip
def test_findings_about_arguments(old: Any, new: Any, expected: list[tuple[str, str, str, str]]) -> None:
    assert found(old, new, "input") == expected


def test_a_mark_that_steers_clients_is_a_warning() -> None:
    old, new = {"type": "object"}, {"type": "object", "x-fastmcp-wrap-result": True}
    assert [(level, rule) for level, rule, *_ in found(old, new, "output")] == [("warning", "annotation-changed")]


def test_the_worst_comes_first() -> None:
    levels = [level for level, *_ in found(obj(a={"type": "string", "title": "x"}), obj(a={"type": "null"}), "output")]
    assert levels == sorted(levels, key=["breaking", "warning", "info", "annotation"].index)
    assert levels[0] == "breaking"


def test_names_from_servers_are_quoted_raw() -> None:
    name = "<b>\u202e`x"
    assert (
        found(obj(**{name: {"type": "string"}}), obj(**{name: {"type": "null"}}), "output")[0][3]
        == f"`{name}` may now be null"
    )
