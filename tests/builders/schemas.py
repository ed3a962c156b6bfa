"""Random schemas over a small universe of values, in every dialect: what the prover is tried against by brute force."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import jsonschema_rs

VALIDATORS: dict[str, type[jsonschema_rs.Validator]] = {
    "draft-04": jsonschema_rs.Draft4Validator,
    "draft-06": jsonschema_rs.Draft6Validator,
    "draft-07": jsonschema_rs.Draft7Validator,
    "2019-09": jsonschema_rs.Draft201909Validator,
    "2020-12": jsonschema_rs.Draft202012Validator,
}
DIALECTS = tuple(VALIDATORS)
NAMES = ("a", "b", "c", "ab", "aa")
VALUES: tuple[Any, ...] = (None, True, False, 0, 1, 2, "a", "b", "", 0.5, [], [1], {"a": 1}, {}, 1.0, [1, "a"], ["a"])
TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
PATTERNS = ("^a", "b", "^[ab]+$", "^$", "a$", "[0-9]", "^.$", "^(a|c)")
KEY_PATTERNS = ("^a", "b", "^[ab]$", "a$", "")

_ALWAYS = (
    *("type", "enum", "minimum", "maximum", "exclusive", "multipleOf", "minLength", "maxLength", "pattern"),
    *("items", "tuple", "minItems", "maxItems", "uniqueItems", "properties", "required", "additionalProperties"),
    *("minProperties", "maxProperties", "patternProperties", "allOf", "anyOf", "oneOf", "not", "ref", "dependencies"),
)
_LATER = ("const", "contains", "propertyNames")
_MODERN = ("dependentRequired", "dependentSchemas", "counted", "unevaluatedProperties", "unevaluatedItems")


def validator(schema: Any, dialect: str) -> jsonschema_rs.Validator:
    """A validator that fetches nothing and asserts no format."""
    return VALIDATORS[dialect](schema, validate_formats=False, offline=True)


def universe(seed: int = 0) -> list[Any]:
    """About 1 500 values: scalars, short arrays, small objects, a few nested ones."""
    rnd = random.Random(seed)
    scalars: list[Any] = [None, True, False, 0, 1, 2, 3, -1, 0.5, 1.5, "", "a", "b", "ab", "aa", "c1"]
    leaves: list[Any] = [1, "a", None, 0, True, [], {}, 0.5, [1], {"a": 1}, ["a", "a"]]
    arrays: list[Any] = [
        list(items) for size in range(3) for items in itertools.product([None, True, 0, 1, "a", 0.5], repeat=size)
    ]
    arrays += [[1, 1, 1], ["a", "a", 1], [[], []], [{}, 1], [[1]], [{"a": 1}], [1, 2, "a", "a"]]
    arrays += [[rnd.choice(leaves) for _ in range(rnd.choice([3, 3, 4, 5]))] for _ in range(300)]
    objects: list[Any] = []
    for keys in ("", "a", "b", "c", "a b", "a c", "a b c", "ab", "aa", "b ab", "a ab", "a b ab c"):
        names = keys.split()
        objects += [dict.fromkeys(names, leaf) for leaf in leaves]
        objects += [{name: rnd.choice(leaves) for name in names} for _ in range(25 * len(names))]
    return scalars + arrays + objects + [{"a": {"a": {}}}, {"a": {"a": 1}}, {"a": [{"a": 1}]}]


class Schemas:
    """A stream of random schemas, the same for the same seed."""

    def __init__(self, seed: int, depth: int = 2) -> None:
        self.rnd = random.Random(seed)
        self.depth = depth

    def document(self, dialect: str) -> dict[str, Any]:
        """A schema with definitions, one of them recursive."""
        schema = self.schema(self.depth, dialect)
        again = {"$ref": "#/definitions/r"}
        schema["definitions"] = {
            "p": self.schema(1, dialect),
            "q": self.schema(1, dialect),
            "r": {
                "type": self.rnd.choice(["object", "array"]),
                "properties": {"a": again, "b": self.schema(0, dialect)},
                "items": self.rnd.choice([again, self.schema(0, dialect)]),
            },
        }
        return schema

    def pair(self) -> tuple[dict[str, Any], dict[str, Any], str, str]:
        """Two schemas and their dialects; mostly close to each other."""
        rnd = self.rnd
        dialect = rnd.choice(DIALECTS)
        first = self.document(dialect)
        choice = rnd.random()
        if choice < 0.3:
            other = dialect if rnd.random() < 0.8 else rnd.choice(DIALECTS)
            return first, self.document(other), dialect, other
        if choice < 0.8:
            second = self.edited(first, dialect)
        else:
            body = {keyword: value for keyword, value in first.items() if keyword != "definitions"}
            extra = self.schema(1, dialect)
            shape: dict[str, Any] = rnd.choice(
                [{"not": {"not": body}}, {"allOf": [body, extra]}, {"anyOf": [body, extra]}, {"oneOf": [body, extra]}]
            )
            second = {**shape, "definitions": first["definitions"]}
        return (first, second, dialect, dialect) if rnd.random() < 0.5 else (second, first, dialect, dialect)

    def edited(self, schema: dict[str, Any], dialect: str) -> dict[str, Any]:
        """The schema with one keyword more or less somewhere."""
        copy: dict[str, Any] = json.loads(json.dumps(schema))
        nodes = [copy]
        for node in nodes:
            for keyword, value in node.items():
                if keyword not in ("enum", "const", "definitions"):
                    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
                    nodes += [each for each in (value, *below) if isinstance(each, dict)]
        node = copy if self.rnd.random() < 0.5 else self.rnd.choice(nodes)
        if self.rnd.random() < 0.5:
            node.update({word: value for word, value in self.keyword(1, dialect).items() if word not in node})
        elif node:
            word = self.rnd.choice(list(node))
            if word != "definitions":
                del node[word]
        return copy

    def schema(self, depth: int, dialect: str) -> dict[str, Any]:
        """A few random keywords."""
        schema: dict[str, Any] = {}
        for _ in range(self.rnd.choice([1, 1, 2, 2, 3])):
            schema = {**self.keyword(depth, dialect), **schema}
        if dialect == "draft-04" and "exclusiveMinimum" in schema:
            schema.setdefault("minimum", 0)
        return schema

    def keyword(self, depth: int, dialect: str) -> dict[str, Any]:
        """One keyword (or two that belong together)."""
        words = _ALWAYS
        if dialect != "draft-04":
            words += _LATER
        if dialect not in ("draft-04", "draft-06"):
            words += ("if",)
        if dialect in ("2019-09", "2020-12"):
            words += _MODERN
        word = self.rnd.choice(words)
        found = self._leaf(word, dialect)
        if found is None and depth <= 0:
            return {"type": self.rnd.choice(["string", "integer", "object", "array", "null"])}
        return found if found is not None else self._nested(word, depth - 1, dialect)

    def _some_names(self) -> list[str]:
        return sorted({self.rnd.choice(NAMES) for _ in range(self.rnd.randint(1, 2))})

    def _leaf(self, word: str, dialect: str) -> dict[str, Any] | None:
        rnd = self.rnd
        if word == "type":
            return {"type": rnd.choice(TYPES) if rnd.random() < 0.5 else rnd.sample(TYPES, rnd.randint(1, 3))}
        if word == "enum":
            listed = {json.dumps(value): value for value in rnd.choices(VALUES, k=rnd.randint(1, 4)) if value != 1.0}
            return {"enum": list(listed.values()) or [None]}
        if word == "const":
            return {"const": rnd.choice(VALUES)}
        if word in ("minimum", "maximum"):
            return {word: rnd.choice([0, 1, 0.5, 2])}
        if word == "exclusive":
            if dialect == "draft-04":
                return {"minimum": rnd.choice([0, 1]), "exclusiveMinimum": rnd.choice([True, False])}
            return {rnd.choice(["exclusiveMinimum", "exclusiveMaximum"]): rnd.choice([0, 1, 0.5, 2])}
        if word == "multipleOf":
            return {word: rnd.choice([1, 2, 0.5, 1.5])}
        if word in ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"):
            return {word: rnd.randint(0, 3)}
        if word == "pattern":
            return {word: rnd.choice(PATTERNS)}
        if word == "uniqueItems":
            return {word: rnd.random() < 0.9}
        if word == "required":
            return {word: self._some_names()}
        if word == "dependentRequired":
            return {word: {rnd.choice(NAMES): self._some_names()}}
        if word == "ref":
            return {"$ref": f"#/definitions/{rnd.choice('pqr')}"}
        return None

    def _nested(self, word: str, depth: int, dialect: str) -> dict[str, Any]:
        rnd = self.rnd

        def some() -> dict[str, Any]:
            return self.schema(depth, dialect)

        if word in ("items", "not", "contains", "propertyNames"):
            return {word: some()}
        if word == "tuple":
            first, rest = ("prefixItems", "items") if dialect == "2020-12" else ("items", "additionalItems")
            tail = {rest: some()} if rnd.random() < 0.5 else {}
            return {first: [some() for _ in range(rnd.randint(1, 3))], **tail}
        if word == "properties":
            return {word: {rnd.choice(NAMES): some() for _ in range(rnd.randint(1, 3))}}
        if word in ("additionalProperties", "unevaluatedProperties", "unevaluatedItems"):
            modern = dialect != "draft-04" or word == "additionalProperties"
            return {word: some() if rnd.random() < 0.5 or not modern else False}
        if word == "patternProperties":
            return {word: {rnd.choice(KEY_PATTERNS): some() for _ in range(rnd.randint(1, 2))}}
        if word in ("allOf", "anyOf", "oneOf"):
            return {word: [some() for _ in range(rnd.randint(1, 3))]}
        if word == "if":
            return {"if": some(), **{branch: some() for branch in ("then", "else") if rnd.random() < 0.7}}
        if word == "dependentSchemas":
            return {word: {rnd.choice(NAMES): some()}}
        if word == "dependencies":
            return {word: {rnd.choice(NAMES): self._some_names() if rnd.random() < 0.5 else some()}}
        limits = {limit: rnd.randint(0, 2) for limit in ("minContains", "maxContains") if rnd.random() < 0.6}
        return {"contains": some(), **limits}


class Trees:
    """A stream of random recursive schemas (2020-12) and variants of them."""

    def __init__(self, seed: int) -> None:
        self.rnd = random.Random(seed)

    def document(self) -> dict[str, Any]:
        """One to three definitions that mention each other, always below a key or an item."""
        count = self.rnd.randint(1, 3)
        names = {f"n{index}": self._node(2, count, guarded=False) for index in range(count)}
        return {"$ref": "#/$defs/n0", "$defs": names}

    def variant(self, document: dict[str, Any]) -> dict[str, Any]:
        """The same with a definition renamed, one mention unrolled, or one node edited."""
        text = json.dumps(document)
        choice = self.rnd.random()
        if choice < 0.25:
            name = self.rnd.choice(list(document["$defs"]))
            mention = json.dumps({"$ref": f"#/$defs/{name}"})
            unrolled: dict[str, Any] = json.loads(text.replace(mention, json.dumps(document["$defs"][name]), 1))
            return unrolled if "$defs" in unrolled and "n0" in unrolled["$defs"] else document
        if choice < 0.35:
            renamed: dict[str, Any] = json.loads(text.replace("n0", "m0").replace("n1", "z1"))
            return renamed
        copy: dict[str, Any] = json.loads(text)
        nodes: list[dict[str, Any]] = list(copy["$defs"].values())
        for node in nodes:
            below = [node.get("items"), *node.get("properties", {}).values(), *node.get("anyOf", [])]
            nodes += [each for each in below if isinstance(each, dict) and "$ref" not in each]
        node = self.rnd.choice(nodes)
        edit = self.rnd.random()
        if edit < 0.3:
            node["required"] = ["a"]
        elif edit < 0.5:
            node.pop("required", None)
        elif edit < 0.75:
            node["additionalProperties"] = False
        else:
            inner = dict(node)
            node.clear()
            node["anyOf"] = [inner, {"type": "null"}]
        return copy

    def _node(self, depth: int, count: int, *, guarded: bool) -> dict[str, Any]:
        rnd = self.rnd
        choice = rnd.random()
        if guarded and choice < 0.35:
            return {"$ref": f"#/$defs/n{rnd.randrange(count)}"}
        if depth < 0 or choice < 0.45:
            return {"type": rnd.choice(["null", "integer", "string"])}
        if choice < 0.65:
            word = rnd.choice(["anyOf", "anyOf", "oneOf", "allOf"])
            return {word: [self._node(depth - 1, count, guarded=guarded) for _ in range(rnd.randint(2, 3))]}
        if choice < 0.7:
            return {"not": self._node(depth - 1, count, guarded=guarded)}
        if choice < 0.87:
            below = {key: self._node(depth - 1, count, guarded=True) for key in rnd.sample("ab", rnd.randint(1, 2))}
            node: dict[str, Any] = {"type": "object", "properties": below}
            if rnd.random() < 0.5:
                node["required"] = rnd.sample("ab", rnd.randint(1, 2))
            if rnd.random() < 0.5:
                node["additionalProperties"] = False
            return node
        return {"type": "array", "items": self._node(depth - 1, count, guarded=True), "minItems": rnd.randint(0, 1)}


def tree_values(seed: int = 0) -> list[Any]:
    """About 900 values of depth up to three with the keys ``a`` and ``b``."""
    rnd = random.Random(seed)
    levels: list[list[Any]] = [[None, 1, "s"], [{}, []]]
    for _ in range(3):
        known = [value for level in levels for value in level]
        new: list[Any] = [{rnd.choice("ab"): rnd.choice(known)} for _ in range(80)]
        new += [{"a": rnd.choice(known), "b": rnd.choice(known)} for _ in range(120)]
        new += [[rnd.choice(known) for _ in range(rnd.randint(1, 2))] for _ in range(80)]
        levels.append(new)
    return [value for level in levels for value in level]
