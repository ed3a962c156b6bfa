from __future__ import annotations

import pytest

from driftwatch.errors import InputError
from driftwatch.web.pages.scopes import Scope, offered


@pytest.mark.parametrize("scope", [Scope(), Scope(server_id=3), Scope(tag="a:b")])
def test_a_scope_survives_its_form(scope: Scope) -> None:
    assert Scope.of(scope.value) == scope


@pytest.mark.parametrize("text", ["server:", "server:x", "server:²", "tag:", "everything", "tag:" + "x" * 101])
def test_what_is_no_scope_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="no scope"):
        Scope.of(text)


def test_what_is_offered_is_in_order_and_empty_groups_are_left_out() -> None:
    assert offered({}, []) == []
    groups = offered({2: "b", 1: "c"}, ["z", "a"])
    assert groups == [
        ("Tags", [("tag:a", "a"), ("tag:z", "z")]),
        ("Servers", [("server:2", "b"), ("server:1", "c")]),
    ]
