"""What people asked not to hear, and the policy."""

from __future__ import annotations

from collections.abc import Iterator

from driftwatch.client.noun import Noun
from driftwatch.web.api.models import (
    IgnoreIn,
    IgnoreOut,
    LineChangeOut,
    LineIn,
    MaintenanceIn,
    MaintenanceOut,
    MuteIn,
    MuteOut,
    PolicyOut,
)


class Mutes(Noun):
    """Known drift of a server or a tool, not repeated for a while."""

    def every(self, *, over: bool = False) -> Iterator[MuteOut]:
        """Those in force, newest first; ``over``: the others too."""
        return self._api.pages("/mutes", MuteOut, {"all": over})

    def add(self, mute: MuteIn) -> MuteOut:
        """Mute a server or one of its tools."""
        return self._api.post("/mutes", MuteOut, body=mute)

    def end(self, mute_id: int) -> None:
        """End one early."""
        self._api.delete("/mutes/{row_id}", row_id=mute_id)


class Ignores(Noun):
    """Findings nobody wants to hear of."""

    def every(self, *, over: bool = False) -> Iterator[IgnoreOut]:
        """Those in force, newest first; ``over``: the others too."""
        return self._api.pages("/ignores", IgnoreOut, {"all": over})

    def add(self, ignore: IgnoreIn) -> IgnoreOut:
        """Do not alert for this, from now on."""
        return self._api.post("/ignores", IgnoreOut, body=ignore)

    def end(self, ignore_id: int) -> None:
        """End one."""
        self._api.delete("/ignores/{row_id}", row_id=ignore_id)


class Maintenance(Noun):
    """Planned work: alerts open, messages wait."""

    def every(self, *, over: bool = False) -> Iterator[MaintenanceOut]:
        """Now and to come, newest first; ``over``: past ones too."""
        return self._api.pages("/maintenance", MaintenanceOut, {"all": over})

    def add(self, window: MaintenanceIn) -> MaintenanceOut:
        """Plan one."""
        return self._api.post("/maintenance", MaintenanceOut, body=window)

    def end(self, window_id: int) -> None:
        """End one, or call it off."""
        self._api.delete("/maintenance/{row_id}", row_id=window_id)


class Policy(Noun):
    """What becomes an alert, line by line."""

    def get(self, *, server: int | None = None) -> PolicyOut:
        """As it holds for a server, or the default."""
        return self._api.get("/policy", PolicyOut, {"server": server})

    def change(self, line: LineIn) -> LineChangeOut:
        """Change a line for a server, a tag, or everything."""
        return self._api.post("/policy/changes", LineChangeOut, body=line)

    def restore(self, change_id: int) -> None:
        """Take a change of the policy back."""
        self._api.delete("/policy/changes/{row_id}", row_id=change_id)
