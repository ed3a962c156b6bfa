from __future__ import annotations

from typing import Any

from driftwatch.history.views import FindingView
from driftwatch.web.pages import contract, contract_diff
from driftwatch.web.pages.contract_diff import Comparison, Fold, Line, Piece

ORDER: dict[str, Any] = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "status": {"type": "string"}, "carrier": {"type": "string"}},
    "required": ["id", "status"],
}
NULLED: dict[str, Any] = {
    "required": ["status", "id"],
    "properties": {
        "status": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "trackingUrl": {"type": "string", "format": "uri"},
        "id": {"type": "string"},
    },
    "type": "object",
}


def compare(old: Any, new: Any, *findings: FindingView, fold: bool = True) -> Comparison:
    before = None if old is None else contract.read(old)
    after = None if new is None else contract.read(new)
    return contract_diff.compare(before, after, findings, fold=fold)


def lines(found: Comparison) -> dict[str, Line]:
    return {line.name: line for line in found.lines if isinstance(line, Line)}


def finding(rule: str, pointer: str, level: str, message: str) -> FindingView:
    return FindingView(rule, pointer, level, "widens", message)


def test_each_field_has_its_sign_and_its_words() -> None:
    found = lines(compare(ORDER, NULLED))
    assert {name: line.sign for name, line in found.items()} == {
        "id": "",
        "status": "~",
        "carrier": "-",
        "trackingUrl": "+",
        "any other key": "",
    }
    assert found["status"].was == "string"
    assert found["status"].now == (Piece("string or", fresh=False), Piece("null", fresh=True))
    assert (found["carrier"].was, found["carrier"].now, found["carrier"].need) == ("string", (), "was optional")
    assert found["trackingUrl"].need == "optional"


def test_order_of_keys_and_of_required_is_no_change() -> None:
    assert compare(ORDER, dict(reversed(ORDER.items()))).changed == 0


def test_a_removed_field_stays_where_it_was() -> None:
    names = [line.name for line in compare(ORDER, NULLED).lines if isinstance(line, Line)]
    assert names.index("carrier") == names.index("status") + 1


def test_a_finding_stands_at_its_field_without_repeating_the_name() -> None:
    null = finding("output-null-added", "/properties/status/anyOf/1", "breaking", "`status` may now be null")
    found = lines(compare(ORDER, NULLED, null))
    (note,) = found["status"].notes
    assert (note.message, note.rule, note.state.tone) == ("may now be null", "output-null-added", "breaking")
    assert found["status"].tone == "breaking"
    assert found["carrier"].tone == "note"


def test_a_finding_in_the_old_schema_stands_at_the_removed_field() -> None:
    gone = finding("output-property-removed", "/properties/carrier", "info", "`carrier` is no longer declared")
    assert [note.rule for note in lines(compare(ORDER, NULLED, gone))["carrier"].notes] == ["output-property-removed"]


def test_a_finding_behind_a_reference_is_found_by_the_definition() -> None:
    old = {
        "$defs": {"T": {"type": "object", "properties": {"n": {"type": "integer"}}}},
        "properties": {"t": {"$ref": "#/$defs/T"}},
    }
    new = {
        "$defs": {"T": {"type": "object", "properties": {"n": {"type": "number"}}}},
        "properties": {"t": {"$ref": "#/$defs/T"}},
    }
    widened = finding("output-type-widened", "/$defs/T/properties/n/type", "breaking", "`n` may now be a number")
    assert lines(compare(old, new, widened))["n"].tone == "breaking"


def test_a_finding_at_no_field_is_told_below() -> None:
    found = compare(ORDER, NULLED, finding("dialect-changed", "", "info", "another dialect"))
    assert [note.message for note in found.loose] == ["another dialect"]


def test_need_and_description_changes_are_seen() -> None:
    old = {"type": "object", "properties": {"a": {"type": "string", "description": "one"}}, "required": ["a"]}
    new = {"type": "object", "properties": {"a": {"type": "string", "description": "two"}}}
    line = lines(compare(old, new))["a"]
    assert (line.sign, line.need, line.was_description, line.description) == (
        "~",
        "optional, was required",
        "one",
        "two",
    )


def test_closing_an_object_is_a_changed_line() -> None:
    line = lines(compare(ORDER, {**ORDER, "additionalProperties": False}))["any other key"]
    assert (line.sign, line.was) == ("~", "allowed, not described")
    assert line.now == (Piece("refused", fresh=True),)


def test_nested_open_objects_are_not_told_unless_one_side_wrote_it_down() -> None:
    def nested(**extra: Any) -> dict[str, Any]:
        inner = {"type": "object", "properties": {"x": {}}, **extra}
        return {"type": "object", "properties": {"o": inner}}

    assert [line.depth for line in compare(nested(), nested()).lines if isinstance(line, Line)] == [0, 1, 0]
    closed = compare(nested(), nested(additionalProperties=False))
    assert closed.changed == 1


def test_unchanged_stretches_fold_only_beside_a_change() -> None:
    many = {f"x{i}": {"type": "integer"} for i in range(30)}
    old = {"type": "object", "properties": {**many, "z": {"type": "string"}}}
    new = {"type": "object", "properties": {**many, "z": {"type": "integer"}}}
    folds = [item for item in compare(old, new).lines if isinstance(item, Fold)]
    assert [len(fold.names) for fold in folds] == [30 - contract_diff.KEEP_UNCHANGED]
    assert not [item for item in compare(old, old).lines if isinstance(item, Fold)]


def test_a_huge_comparison_keeps_what_changed() -> None:
    old = {"type": "object", "properties": {f"x{i}": {"type": "integer"} for i in range(1900)}}
    new = {"type": "object", "properties": {**old["properties"], "x1899": {"type": "string"}}}
    found = compare(old, new, fold=False)
    assert len(found.lines) == contract_diff.MAX_SHOWN
    assert "x1899" in lines(found)
    assert found.left_out == 1901 - contract_diff.MAX_SHOWN


def test_an_undeclared_side_makes_every_field_new_or_gone() -> None:
    assert {line.sign for line in lines(compare(None, ORDER)).values()} == {"+"}
    assert {line.sign for line in lines(compare(ORDER, None)).values()} == {"-"}


def test_only_changes_for_the_change_page() -> None:
    short = contract_diff.changed_only(compare(ORDER, NULLED))
    assert [line.name for line in short.lines if isinstance(line, Line)] == ["status", "carrier", "trackingUrl"]
