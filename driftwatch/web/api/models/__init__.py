"""Shapes of the API, with examples. Server-supplied text is passed through as it is: JSON escapes it."""

from __future__ import annotations

from driftwatch.web.api.models.alerts import AcceptIn, AlertEventOut, AlertOut, ReasonIn
from driftwatch.web.api.models.base import Announcement, EraName, Failure, Page, Strict, Verdict, WindowOut
from driftwatch.web.api.models.changes import (
    ChangeDetail,
    ChangeOut,
    ChangesetOut,
    ClientOut,
    EvidenceOut,
    FindingOut,
    Kind,
    PartOut,
)
from driftwatch.web.api.models.compare import ComparedOut, CompareOut
from driftwatch.web.api.models.servers import (
    BatchOutcome,
    FoundEra,
    ImportIn,
    PreviewOut,
    ProfileOut,
    RegisteredOut,
    ServerIn,
    ServerOut,
    ServerPatch,
)
from driftwatch.web.api.models.tools import IntervalOut, ToolOut, VersionDetail, VersionOut

__all__ = [
    "AcceptIn",
    "AlertEventOut",
    "AlertOut",
    "Announcement",
    "BatchOutcome",
    "ChangeDetail",
    "ChangeOut",
    "ChangesetOut",
    "ClientOut",
    "CompareOut",
    "ComparedOut",
    "EraName",
    "EvidenceOut",
    "Failure",
    "FindingOut",
    "FoundEra",
    "ImportIn",
    "IntervalOut",
    "Kind",
    "Page",
    "PartOut",
    "PreviewOut",
    "ProfileOut",
    "ReasonIn",
    "RegisteredOut",
    "ServerIn",
    "ServerOut",
    "ServerPatch",
    "Strict",
    "ToolOut",
    "Verdict",
    "VersionDetail",
    "VersionOut",
    "WindowOut",
]
