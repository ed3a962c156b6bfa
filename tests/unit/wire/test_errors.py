import re

import pytest

from driftwatch.errors import WireError
from driftwatch.wire import errors

ALL = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, errors.NamedWireError) and kind is not errors.NamedWireError
]


@pytest.mark.parametrize("kind", ALL)
def test_every_failure_has_a_code_a_hint_and_a_place_in_the_tree(kind):
    extra = {"rpc_code": -1} if kind is errors.RpcError else {}
    error = kind("what happened", **extra)
    assert isinstance(error, WireError)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", error.code)
    assert error.hint
    assert (error.status, error.retry_after, error.restart_kind) == (None, None, None)
    assert re.search(rf"{kind.__name__} +{error.code}\b", errors.__doc__)


def test_codes_are_unique():
    assert len({kind.code for kind in ALL}) == len(ALL) >= 20


def test_a_given_hint_wins():
    assert errors.NotMcpError("x", hint="do this").hint == "do this"
