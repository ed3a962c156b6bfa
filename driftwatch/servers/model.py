"""What people register, and what they are shown about it. Pure data; checked in ``servers.check``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from driftwatch.capture.model import ConformanceFinding
from driftwatch.servers.credential import Credential, Headers
from driftwatch.wire.challenge import Challenge
from driftwatch.wire.facts import Era

Listen = Literal["auto", "off"]
Mode = Literal["follow", "pinned"]


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """A server to watch. ``eras`` None: every era found. ``interval_seconds`` None: the default of the settings.

    ``credential``: what lets us in; ``headers`` is short for one of secret headers. Never log or repr either.
    ``pushed``: snapshots are handed in, ``url`` is empty.
    """

    url: str
    name: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    credential: Credential | None = None
    interval_seconds: int | None = None
    eras: frozenset[Era] | None = None
    tags: tuple[str, ...] = ()
    owner: str | None = None
    listen: Listen = "auto"
    mode: Mode = "follow"
    transitive: bool = False
    pushed: bool = False

    @property
    def way_in(self) -> Credential | None:
        """The credential, however it was given."""
        return self.credential or (Headers(self.headers) if self.headers else None)


class Unset:
    """The type of :data:`UNSET`."""

    def __repr__(self) -> str:
        return "UNSET"


#: a field of a ServerPatch that was not sent (None is a value: no owner, every era)
UNSET: Final = Unset()


@dataclass(frozen=True, slots=True)
class ServerPatch:
    """Fields to change; what is UNSET stays. Empty ``headers``, or no ``credential``, remove the credential."""

    url: str | Unset = UNSET
    name: str | Unset = UNSET
    headers: Mapping[str, str] | Unset = field(default=UNSET, repr=False)
    credential: Credential | Unset | None = UNSET
    interval_seconds: int | Unset = UNSET
    eras: frozenset[Era] | Unset | None = UNSET
    tags: tuple[str, ...] | Unset = UNSET
    owner: str | Unset | None = UNSET
    listen: Listen | Unset = UNSET
    mode: Mode | Unset = UNSET
    transitive: bool | Unset = UNSET

    @property
    def way_in(self) -> Credential | Unset | None:
        """The credential from now on, however it was given; UNSET: the stored one."""
        if not isinstance(self.credential, Unset) or isinstance(self.headers, Unset):
            return self.credential
        return Headers(self.headers) if self.headers else None


@dataclass(frozen=True, slots=True)
class Problem:
    """Why something could not be read: a stable code, words, and what to do. ``challenge``: what a 401 or 403 wants."""

    code: str
    message: str
    hint: str | None = None
    challenge: Challenge | None = None


@dataclass(frozen=True, slots=True)
class FoundTool:
    """A tool in a preview. ``invalid``: why client SDKs refuse it."""

    name: str
    declares_output: bool
    invalid: str | None = None


@dataclass(frozen=True, slots=True)
class FoundEra:
    """What one kind of client sees of a server. ``list_changed_declared``: it says that it announces changes."""

    era: Era
    protocol_version: str
    server_info: Mapping[str, Any] | None
    list_changed_declared: bool
    tools: tuple[FoundTool, ...]
    findings: tuple[ConformanceFinding, ...] = ()

    @property
    def outputs_declared(self) -> int:
        """How many tools declare what they return."""
        return sum(tool.declares_output for tool in self.tools)


@dataclass(frozen=True, slots=True)
class Preview:
    """What a server looks like, before anything is stored. ``problems``: why an era is not in ``found``."""

    url: str
    found: tuple[FoundEra, ...]
    problems: Mapping[Era, Problem] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Registered:
    """The outcome of a registration. ``server_id`` None: a dry run, nothing is stored."""

    server_id: int | None
    name: str
    preview: Preview

    @property
    def found(self) -> tuple[FoundEra, ...]:
        """The eras found, each with its tools."""
        return self.preview.found

    @property
    def problems(self) -> Mapping[Era, Problem]:
        """Why an era is not among those found."""
        return self.preview.problems
