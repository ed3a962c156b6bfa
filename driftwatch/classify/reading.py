"""A schema as one question reads it: everything made of a document is made once, when it is first asked for."""

from __future__ import annotations

from functools import cached_property

from driftwatch.classify.dialect import Dialect, Schema
from driftwatch.classify.dialects import SchemaError, compile_schema
from driftwatch.classify.gate import Gate
from driftwatch.classify.ir import Node
from driftwatch.classify.normal import EMBEDDED, Normal, NotNormalError, UnresolvedError, normalise
from driftwatch.classify.verdict import Policy, Root


class Reading:
    """One document, valid under its meta-schema, in one dialect. It must not be changed while its reading is used."""

    def __init__(self, schema: Schema, dialect: Dialect, root: Root, policy: Policy) -> None:
        self.schema = schema
        self.dialect = dialect
        self.root = root
        self.policy = policy

    @cached_property
    def gate(self) -> Gate:
        """A validator of the document as written. Raises GateError."""
        return Gate(self.schema, self.dialect, self.root, self.policy)

    @cached_property
    def node(self) -> Node:
        """What it accepts, as the prover reads it. Raises SchemaError, RecursionError."""
        return compile_schema(self.schema, self.dialect, formats=self.policy.formats)

    @property
    def normal(self) -> Normal | None:
        """Its normal form; documents with dynamic or remote references have none."""
        return self._form if isinstance(self._form, Normal) else None

    @property
    def unresolved(self) -> UnresolvedError | None:
        """The reference within the document that leads nowhere."""
        return self._form if isinstance(self._form, UnresolvedError) else None

    @cached_property
    def _form(self) -> Normal | NotNormalError | UnresolvedError:
        return self._normalised(formats=self.policy.formats)

    def _normalised(self, *, formats: bool) -> Normal | NotNormalError | UnresolvedError:
        try:
            return normalise(self.schema, self.dialect, formats=formats)
        except UnresolvedError as error:
            return error
        except NotNormalError as error:
            if error.reason != EMBEDDED or not self._one_meaning():
                return error
        try:
            return normalise(self.schema, self.dialect, formats=formats, embedded=True)
        except (NotNormalError, UnresolvedError) as error:
            return error

    def _one_meaning(self) -> bool:
        """Whether the front end found that embedded dialects change nothing."""
        try:
            return self.node is not None
        except (SchemaError, RecursionError):
            return False

    @cached_property
    def with_formats(self) -> Normal | None:
        """Its normal form with the formats that nobody asserts, where it has a normal form."""
        found = None if self.normal is None else self._normalised(formats=True)
        return found if isinstance(found, Normal) else None


def equal(left: Reading, right: Reading) -> bool:
    """Whether both documents mean the same to the prover; False where it cannot read one of them."""
    try:
        return left.node is right.node
    except (SchemaError, RecursionError):
        return False
