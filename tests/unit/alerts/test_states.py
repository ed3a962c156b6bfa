from __future__ import annotations

import pytest

from driftwatch.alerts.states import check
from driftwatch.errors import ConflictError

ALLOWED = {
    "drift": {
        ("open", "acknowledged"), ("open", "accepted"), ("open", "settled"), ("open", "reverted"),
        ("acknowledged", "open"), ("acknowledged", "accepted"), ("acknowledged", "settled"),
        ("acknowledged", "reverted"), ("accepted", "open"), ("settled", "open"), ("reverted", "open"),
    },
    "not-watching": {("open", "acknowledged"), ("open", "resolved"), ("acknowledged", "resolved")},
}  # fmt: skip
STATES = ("open", "acknowledged", "accepted", "settled", "reverted", "resolved")


@pytest.mark.parametrize("kind", ALLOWED)
@pytest.mark.parametrize("current", STATES)
@pytest.mark.parametrize("wanted", STATES)
def test_the_life_of_an_alert(kind: str, current: str, wanted: str) -> None:
    if (current, wanted) in ALLOWED[kind]:
        check(kind, current, wanted)  # type: ignore[arg-type]  # every state as text
        return
    with pytest.raises(ConflictError):
        check(kind, current, wanted)  # type: ignore[arg-type]  # every state as text


def test_a_refusal_is_in_words() -> None:
    with pytest.raises(ConflictError, match="This alert was accepted by mei; it cannot be acknowledged any more"):
        check("drift", "accepted", "acknowledged", handled_by="mei")
    with pytest.raises(ConflictError, match="already acknowledged by mei"):
        check("drift", "acknowledged", "acknowledged", handled_by="mei")
    with pytest.raises(ConflictError, match="of kind not-watching cannot be accepted; it ends by itself"):
        check("not-watching", "open", "accepted")
