"""A schema as Ajv would compile it, written down as plain 2020-12 that jsonschema-rs reads the same way.

Siblings of ``$ref`` apply, ``nullable`` widens ``type``, keywords of other drafts vanish, tuples and ``dependencies``
take their modern form, references are resolved as Ajv resolves them. Only what Ajv compiles is looked at: a mistake in
a definition that nothing refers to is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from driftwatch.classify.clients.ajv_document import CompileError, Document, NotReadableError, Target
from driftwatch.classify.clients.ajv_keywords import INHERITED, KEYWORDS, Engine, has_type, idle
from driftwatch.classify.clients.ajv_scalars import SCALARS, readable, types
from driftwatch.classify.dialect import URIS, Schema
from driftwatch.classify.keywords import pointer

_DEFINITIONS: Final = "#/$defs/"
At = tuple[str | int, ...]


class Rewriter:
    """One compilation. ``body()`` is the rewritten document; raises CompileError where Ajv would."""

    def __init__(self, schema: dict[str, Any], engine: Engine) -> None:
        self.engine = engine
        self.document = Document(schema)
        self.names: dict[tuple[int, str], str] = {}
        self.definitions: dict[str, Schema] = {}
        self.pending: list[tuple[str, Target, At]] = []

    def body(self) -> Schema:
        """The whole document with what its references lead to under ``$defs``."""
        out = self.schema(self.document.root, self.document.base, ())
        while self.pending:
            # One after the other: a chain of a thousand definitions is no deep recursion.
            name, target, at = self.pending.pop()
            self.definitions[name] = self.schema(target.schema, target.base, at)
        return {**out, "$defs": self.definitions} if self.definitions and isinstance(out, dict) else out

    def schema(self, node: Any, base: str, at: At) -> Schema:
        """One schema; ``base``: the URI its references are relative to."""
        if isinstance(node, bool):
            return node
        if node is None:
            raise CompileError("Cannot convert undefined or null to object", pointer(at))
        if not isinstance(node, dict) or idle(self.engine, node):
            return True
        base = self.document.bases.get(id(node), base)
        self._check(node, at)
        out: dict[str, Any] = {}
        types(node, out, pointer(at))
        for word in KEYWORDS[self.engine]:
            if word in node:
                if word in SCALARS:
                    SCALARS[word](word, node, out, pointer((*at, word)))
                elif word in _APPLICATORS:
                    _APPLICATORS[word](self, word, node, out, (base, at))
        return out if not out.pop("never", False) else False

    def _check(self, node: dict[str, Any], at: At) -> None:
        rules = KEYWORDS[self.engine]
        for word, value in node.items():
            if word in rules and not has_type(value, rules[word]):
                wanted = ",".join(f'"{name}"' for name in rules[word])
                raise CompileError(f"{word} value must be [{wanted}]", pointer((*at, word)))
        if "id" in node:
            raise CompileError('NOT SUPPORTED: keyword "id", use "$id" for schema ID', pointer((*at, "id")))
        if node.get("$async") and at:
            raise CompileError("async schema in sync schema", pointer((*at, "$async")))

    def reference(self, reference: str, base: str, at: At) -> str:
        """A reference into the rewritten document's definitions."""
        target = self.document.find(base, reference)
        if target is None:
            if reference.rstrip("#") in URIS.values():
                raise NotReadableError(f"`{reference}` leads to a meta-schema")
            raise CompileError(f"can't resolve reference {reference} from id {base or '#'}", pointer(at))
        if self._loops(target.schema):
            raise CompileError("Maximum call stack size exceeded", pointer(at))
        return _DEFINITIONS + self._defined(target, at)

    def _loops(self, schema: Any) -> bool:
        """Whether Ajv's compiler never ends: an embedded resource that refers into itself at its own root."""
        if schema is self.document.root or not isinstance(schema, dict) or not isinstance(schema.get("$id"), str):
            return False
        return str(schema.get("$ref", "")).startswith("#")

    def _defined(self, target: Target, at: At) -> str:
        # The target is part of the document, which outlives this compilation: its identity is not reused.
        key = (id(target.schema), target.base)
        if key not in self.names:
            name = self.names[key] = f"d{len(self.names)}"
            self.pending.append((name, target, at))
        return self.names[key]


Place = tuple[str, At]
Applicator = Callable[[Rewriter, str, dict[str, Any], dict[str, Any], Place], None]


def _one(rewriter: Rewriter, word: str, node: dict[str, Any], out: dict[str, Any], place: Place) -> None:
    base, at = place
    out[word] = rewriter.schema(node[word], base, (*at, word))


def _list(rewriter: Rewriter, word: str, node: dict[str, Any], out: dict[str, Any], place: Place) -> None:
    base, at = place
    if word == "anyOf" and rewriter.engine == "classic" and any(idle(rewriter.engine, child) for child in node[word]):
        return  # one branch accepts everything, so the others are not even compiled
    found = [rewriter.schema(child, base, (*at, word, index)) for index, child in enumerate(node[word])]
    if word == "allOf":
        out["allOf"] = [*out.get("allOf", ()), *found] or [True]
    elif found:
        out[word] = found
    elif word != "prefixItems":
        out["never"] = True


def _properties(rewriter: Rewriter, word: str, node: dict[str, Any], out: dict[str, Any], place: Place) -> None:
    base, at = place
    out[word] = {
        name: rewriter.schema(child, base, (*at, word, name))
        for name, child in node[word].items()
        if name != "__proto__"
    }
    # Where the value has no such key of its own, Ajv judges the function that every JavaScript object inherits.
    inherited = {name for name in INHERITED & out[word].keys() if "type" in _mapping(node[word][name])}
    if inherited:
        out["required"] = sorted({*out.get("required", ()), *inherited})


def _map(rewriter: Rewriter, word: str, node: dict[str, Any], out: dict[str, Any], place: Place) -> None:
    base, at = place
    out[word] = {name: rewriter.schema(child, base, (*at, word, name)) for name, child in node[word].items()}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _patterns(rewriter: Rewriter, word: str, node: dict[str, Any], out: dict[str, Any], place: Place) -> None:
    base, at = place
    found: dict[str, Schema] = {}
    rest = node.get("additionalProperties", True)
    if rewriter.engine == "classic" and all(idle(rewriter.engine, schema) for schema in (*node[word].values(), rest)):
        return  # nothing to judge, so the patterns are not even compiled
    for name, child in node[word].items():
        readable(name, pointer((*at, word)))
        found[name] = rewriter.schema(child, base, (*at, word, name))
    out[word] = found


def _items(rewriter: Rewriter, word: str, node: dict[str, Any], out: dict[str, Any], place: Place) -> None:
    if not isinstance(node["items"], list):
        _one(rewriter, word, node, out, place)
        return
    base, at = place
    tuple_ = [rewriter.schema(child, base, (*at, word, index)) for index, child in enumerate(node["items"])]
    if tuple_:
        out["prefixItems"] = tuple_
    if "additionalItems" in node:
        out["items"] = rewriter.schema(node["additionalItems"], base, (*at, "additionalItems"))


def _dependencies(rewriter: Rewriter, word: str, node: dict[str, Any], out: dict[str, Any], place: Place) -> None:
    base, at = place
    parts: list[dict[str, Any]] = []
    for name, child in node[word].items():
        if isinstance(child, list):
            parts.append({"dependentRequired": {name: sorted({item for item in child if isinstance(item, str)})}})
        else:
            parts.append({"dependentSchemas": {name: rewriter.schema(child, base, (*at, word, name))}})
    out["allOf"] = [*out.get("allOf", ()), *parts] or [True]


def _condition(rewriter: Rewriter, word: str, node: dict[str, Any], out: dict[str, Any], place: Place) -> None:
    base, at = place
    branches = [branch for branch in ("then", "else") if branch in node and not idle(rewriter.engine, node[branch])]
    if branches:
        for part in ("if", *branches):
            out[part] = rewriter.schema(node[part], base, (*at, part))


def _reference(rewriter: Rewriter, word: str, node: dict[str, Any], out: dict[str, Any], place: Place) -> None:
    base, at = place
    target = {"$ref": rewriter.reference(node[word], base, (*at, word))}
    out["allOf"] = [*out.get("allOf", ()), target]


def _dynamic(rewriter: Rewriter, word: str, node: dict[str, Any], out: dict[str, Any], place: Place) -> None:
    if not node[word].startswith("#"):
        raise CompileError(f'"{word}" only supports hash fragment reference', pointer((*place[1], word)))
    root = rewriter.document.root
    named = (
        root.get("$dynamicAnchor") == node[word][1:] if word == "$dynamicRef" else root.get("$recursiveAnchor") is True
    )
    if not named or len(rewriter.document.resources) > 1:
        raise NotReadableError(f"`{word}` is followed by rules of its own in Ajv")
    _reference(rewriter, "$ref", {"$ref": "#"}, out, place)


def _contains(rewriter: Rewriter, word: str, node: dict[str, Any], out: dict[str, Any], place: Place) -> None:
    if rewriter.engine != "classic" and node.get("minContains") == 0 and "maxContains" not in node:
        return
    _one(rewriter, word, node, out, place)
    if not idle(rewriter.engine, node[word]):
        out.setdefault("items", True)  # to Ajv, every item is evaluated then


_APPLICATORS: Final[Mapping[str, Applicator]] = {
    **dict.fromkeys(("not", "propertyNames", "additionalProperties"), _one),
    **dict.fromkeys(("unevaluatedProperties", "unevaluatedItems"), _one),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), _list),
    "properties": _properties,
    "dependentSchemas": _map,
    "patternProperties": _patterns,
    "items": _items,
    "dependencies": _dependencies,
    "if": _condition,
    "contains": _contains,
    "$ref": _reference,
    **dict.fromkeys(("$dynamicRef", "$recursiveRef"), _dynamic),
}
