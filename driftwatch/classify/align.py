"""Two documents of different dialects, both respelled in 2020-12 where that changes no meaning."""

from __future__ import annotations

from typing import Any, Final

from driftwatch.classify import exact
from driftwatch.classify.dialect import SIBLINGS_IGNORED, Dialect
from driftwatch.classify.keywords import VOCABULARY, Shape, rebuilt
from driftwatch.classify.normal import Normal

_TARGET: Final[Dialect] = "2020-12"


def plain(node: Any, dialect: Dialect) -> Any:
    """``node`` without properties that ``additionalProperties`` describes alike: the canonicaliser trips over them."""
    if not isinstance(node, dict):
        return node
    out = {
        word: rebuilt(_shape(word, dialect), value, lambda child: plain(child, dialect)) for word, value in node.items()
    }
    rest = out.get("additionalProperties")
    if "properties" in out and isinstance(rest, dict) and "patternProperties" not in out:
        out["properties"] = {name: schema for name, schema in out["properties"].items() if not _alike(schema, rest)}
    return out


def _shape(word: str, dialect: Dialect) -> Shape:
    """The shape of a keyword in a normal form, which keeps definitions under ``$defs`` in every dialect."""
    return "map" if word == "$defs" else VOCABULARY[dialect].get(word, "value")


def _alike(left: Any, right: Any) -> bool:
    return isinstance(left, dict) and exact.same(left, right)


class _DifferentMeaningError(Exception):
    """A keyword that 2020-12 cannot say with the same meaning."""


def together(left: Normal, right: Normal) -> tuple[Normal, Normal] | None:
    """Both documents in one dialect, or None when a keyword means something the common dialect cannot say."""
    if left.dialect == right.dialect:
        return left, right
    try:
        return _respelled(left), _respelled(right)
    except _DifferentMeaningError:
        return None


def _respelled(normal: Normal) -> Normal:
    if normal.dialect == _TARGET:
        return normal
    return Normal(_schema(normal.body, normal.dialect), _TARGET)


def _schema(node: Any, dialect: Dialect) -> Any:
    if isinstance(node, bool):
        return node
    if dialect == "draft-04" and "integer" in _types(node):
        # 1.0 is no integer there.
        raise _DifferentMeaningError
    if dialect == "2019-09" and "unevaluatedItems" in node:
        # 2020-12 counts what ``contains`` saw as evaluated.
        raise _DifferentMeaningError
    out = {
        word: rebuilt(_shape(word, dialect), value, lambda child: _schema(child, dialect))
        for word, value in node.items()
        if word != "additionalItems"
    }
    _items(out, node, dialect)
    _dependencies(out)
    if dialect == "draft-04":
        _exclusive(out)
    return {"$ref": out["$ref"], **_definitions(out)} if "$ref" in out and dialect in SIBLINGS_IGNORED else out


def _types(node: dict[str, Any]) -> tuple[str, ...]:
    written = node.get("type", ())
    return (written,) if isinstance(written, str) else tuple(written)


def _definitions(out: dict[str, Any]) -> dict[str, Any]:
    return {"$defs": out["$defs"]} if "$defs" in out else {}


def _items(out: dict[str, Any], node: dict[str, Any], dialect: Dialect) -> None:
    if isinstance(out.get("items"), list):
        prefix = out.pop("items")
        if prefix:
            out["prefixItems"] = prefix
        if "additionalItems" in node:
            out["items"] = _schema(node["additionalItems"], dialect)


def _dependencies(out: dict[str, Any]) -> None:
    for name, wanted in out.pop("dependencies", {}).items():
        word = "dependentRequired" if isinstance(wanted, list) else "dependentSchemas"
        out.setdefault(word, {})
        out[word] = {**out[word], name: wanted} if name not in out[word] else _refuse()


def _refuse() -> Any:
    raise _DifferentMeaningError


def _exclusive(out: dict[str, Any]) -> None:
    for bound, flag in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if out.pop(flag, False) is True and bound in out:
            out[flag] = out.pop(bound)
