"""Why a pushed snapshot is refused.

InputError (driftwatch.errors)
├── BadSnapshotError    (the wire's code)  its pages are no complete tool list: incomplete-walk, too-large, …
├── BadTimesError       bad-times          a window that ends before it begins, or lies too far in the past (statement)
├── ClockMismatchError  clock-mismatch     the times cannot be the database's, whatever the clocks (statement)
└── NotPushedError      not-pushed         409: the server is polled
"""

from __future__ import annotations

from driftwatch.errors import ConflictError, InputError, WireError


class BadSnapshotError(InputError):
    """The pages are not what a poll could believe; ``code`` is what the poll would have failed with."""

    def __init__(self, cause: WireError) -> None:
        super().__init__(cause.message, hint="Push every page of one walk, in order, as the server sent it.")
        self.code = cause.code
        self.cause = cause


class NotPushedError(ConflictError):
    """Snapshots of a server that is polled would contradict the polls."""

    code = "not-pushed"
