"""Which JSON Schema dialect a document is written in, and how jsonschema-rs is asked to read it.

Only the five published dialects are known. An unknown ``$schema`` is never looked up: no schema makes us fetch.
"""

from __future__ import annotations

from typing import Any, Final, Literal, get_args

import jsonschema_rs

Dialect = Literal["draft-04", "draft-06", "draft-07", "2019-09", "2020-12"]
Schema = dict[str, Any] | bool

DIALECTS: Final[tuple[Dialect, ...]] = get_args(Dialect)
DEFAULT: Final[Dialect] = "2020-12"

URIS: Final[dict[Dialect, str]] = {
    "draft-04": "http://json-schema.org/draft-04/schema",
    "draft-06": "http://json-schema.org/draft-06/schema",
    "draft-07": "http://json-schema.org/draft-07/schema",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}
_BY_URI: Final[dict[str, Dialect]] = {uri: dialect for dialect, uri in URIS.items()}

#: up to draft-07 a ``$ref`` silences its siblings
SIBLINGS_IGNORED: Final[frozenset[Dialect]] = frozenset({"draft-04", "draft-06", "draft-07"})

DRAFTS: Final[dict[Dialect, int]] = {
    "draft-04": jsonschema_rs.Draft4,
    "draft-06": jsonschema_rs.Draft6,
    "draft-07": jsonschema_rs.Draft7,
    "2019-09": jsonschema_rs.Draft201909,
    "2020-12": jsonschema_rs.Draft202012,
}
VALIDATORS: Final[dict[Dialect, type[jsonschema_rs.Validator]]] = {
    "draft-04": jsonschema_rs.Draft4Validator,
    "draft-06": jsonschema_rs.Draft6Validator,
    "draft-07": jsonschema_rs.Draft7Validator,
    "2019-09": jsonschema_rs.Draft201909Validator,
    "2020-12": jsonschema_rs.Draft202012Validator,
}


def named(name: str) -> Dialect | None:
    """The dialect a caller means: a name ("2020-12", "draft-07") or a meta-schema URI; None when unknown."""
    return next((dialect for dialect in DIALECTS if dialect == name), None) or _BY_URI.get(name.rstrip("#"))


def of(schema: Schema, given: str | None = None) -> Dialect | None:
    """The dialect to read ``schema`` in: what the caller says, else its ``$schema``, else 2020-12.

    None means that the document asks for a dialect we do not know.
    """
    if given is not None:
        return named(given)
    if isinstance(schema, dict) and "$schema" in schema:
        uri = schema["$schema"]
        return _BY_URI.get(uri.rstrip("#")) if isinstance(uri, str) else None
    return DEFAULT


def marked(schema: Schema, dialect: Dialect) -> Schema:
    """``schema`` with a root ``$schema`` that names ``dialect``, so that nothing needs to be looked up."""
    if isinstance(schema, bool):
        return schema
    return {**schema, "$schema": URIS[dialect] + ("#" if dialect.startswith("draft") else "")}
