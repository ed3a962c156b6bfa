"""Two documents of different dialects, both respelled in 2020-12 where that changes no meaning."""

from __future__ import annotations

from typing import Any, Final

from driftwatch.classify import exact
from driftwatch.classify.dialect import SIBLINGS_IGNORED, Dialect
from driftwatch.classify.keywords import VOCABULARY, held, is_schema
from driftwatch.classify.normal import Normal

_TARGET: Final[Dialect] = "2020-12"


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
    body = _schema(normal.body, normal.dialect)
    return Normal(body, _TARGET, exact.key(body))


def _schema(node: Any, dialect: Dialect) -> Any:
    if isinstance(node, bool):
        return node
    if dialect == "draft-04" and "integer" in _types(node):
        # 1.0 is no integer there.
        raise _DifferentMeaningError
    if dialect == "2019-09" and "unevaluatedItems" in node:
        # 2020-12 counts what ``contains`` saw as evaluated.
        raise _DifferentMeaningError
    out = {word: _value(word, value, dialect) for word, value in node.items() if word != "additionalItems"}
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


def _value(word: str, value: Any, dialect: Dialect) -> Any:
    shape = "map" if word == "$defs" else VOCABULARY[dialect].get(word, "value")
    if shape == "value":
        return value
    if is_schema(value) and shape in ("schema", "schema-or-list"):
        return _schema(value, dialect)
    inner = {tokens[0]: _schema(child, dialect) for tokens, child in held(shape, value)}
    if isinstance(value, list):
        return [inner[str(index)] for index in range(len(value))]
    return {name: inner.get(name, item) for name, item in value.items()}


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
