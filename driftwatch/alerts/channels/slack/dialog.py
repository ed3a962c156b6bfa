"""The dialog that Accept… opens in Slack: what is accepted, and why. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from driftwatch.alerts.channels.slack.blocks import Block, plain, section

#: names the dialog when it comes back
ACCEPT_DIALOG: Final = "accept-dialog"
#: the same for the block and for the field in it: there is only one
_REASON: Final = "reason"
LONGEST_REASON: Final = 500


@dataclass(frozen=True, slots=True)
class Origin:
    """The message whose button opened a dialog; Slack hands it back with what was filled in."""

    alert: int
    conversation: str
    ts: str


def accept_dialog(what: str, origin: Origin, *, pinned: bool) -> Block:
    """The view to open. ``what``: the sentence above the field; a pinned contract is not accepted without a reason."""
    field = {"type": "plain_text_input", "action_id": _REASON, "max_length": LONGEST_REASON}
    return {
        "type": "modal",
        "callback_id": ACCEPT_DIALOG,
        "private_metadata": json.dumps(asdict(origin)),
        "title": plain("Accept the change"),
        "submit": plain("Accept"),
        "close": plain("Cancel"),
        "blocks": [
            section(what, 1000),
            {
                "type": "input",
                "block_id": _REASON,
                "optional": not pinned,
                "label": plain("Why is this fine?" if pinned else "Why is this fine? (may stay empty)"),
                "element": field,
            },
        ],
    }


def origin_of(view: Mapping[str, Any]) -> Origin | None:
    """Which message a dialog that came back was opened from; None for a dialog that is not ours."""
    try:
        stored = json.loads(str(view.get("private_metadata")))
        return Origin(int(stored["alert"]), str(stored["conversation"]), str(stored["ts"]))
    except (ValueError, KeyError, TypeError):
        return None


def reason_in(view: Mapping[str, Any]) -> str:
    """What was written into the field; empty for nothing."""
    found: Any = view
    for key in ("state", "values", _REASON, _REASON, "value"):
        found = found.get(key) if isinstance(found, Mapping) else None
    return str(found or "")[:LONGEST_REASON]
