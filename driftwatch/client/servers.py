"""Servers: register, look first, change, pause; and what is known of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Literal

from driftwatch.client.noun import Noun
from driftwatch.web.api.models import (
    AskedOut,
    AsOfOut,
    BatchOutcome,
    DeliveryOut,
    EraName,
    HearingOut,
    ImportIn,
    NoteOut,
    PollEventOut,
    PollsOut,
    PreviewOut,
    PushedServerIn,
    PushedServerOut,
    RegisteredOut,
    ServerIn,
    ServerOut,
    ServerPatch,
    TakenOut,
    TimelineOut,
    ToolErasOut,
    ToolOut,
)


class Servers(Noun):
    """What is watched."""

    def every(
        self,
        *,
        tag: str | None = None,
        owner: str | None = None,
        state: Literal["active", "paused"] | None = None,
        era: EraName | None = None,
        q: str | None = None,
    ) -> Iterator[ServerOut]:
        """Servers with their profiles, oldest first; ``q``: text in name, URL or owner."""
        query = {"tag": tag, "owner": owner, "state": state, "era": era, "q": q}
        return self._api.pages("/servers", ServerOut, query)

    def get(self, server_id: int) -> ServerOut:
        """One server."""
        return self._api.get("/servers/{server_id}", ServerOut, server_id=server_id)

    def add(self, server: ServerIn, *, force: bool = False) -> RegisteredOut:
        """Watch a server from now on; ``force``: even if it cannot be read yet."""
        query = {"dry_run": False, "force": force}
        return self._api.post("/servers", RegisteredOut, query, body=server, slow=True)

    def look(self, server: ServerIn) -> PreviewOut:
        """What a server looks like; nothing is stored."""
        query = {"dry_run": True, "force": False}
        return self._api.post("/servers", PreviewOut, query, body=server, slow=True)

    def add_many(
        self, servers: Sequence[ServerIn], *, dry_run: bool = False, force: bool = False
    ) -> list[BatchOutcome]:
        """Watch many; one outcome per entry, in order."""
        query = {"dry_run": dry_run, "force": force}
        return self._api.post("/servers/batch", list[BatchOutcome], query, body=list(servers), slow=True)

    def import_(self, file: ImportIn, *, dry_run: bool = False) -> list[BatchOutcome]:
        """Watch everything a client configuration, a registry ``server.json`` or a list of URLs names."""
        return self._api.post("/servers/import", list[BatchOutcome], {"dry_run": dry_run}, body=file, slow=True)

    def change(self, server_id: int, patch: ServerPatch) -> ServerOut:
        """Change the fields that are set."""
        return self._api.patch("/servers/{server_id}", ServerOut, body=patch, server_id=server_id)

    def remove(self, server_id: int) -> None:
        """Stop watching it and forget its history."""
        self._api.delete("/servers/{server_id}", server_id=server_id)

    def check(self, server_id: int) -> AskedOut:
        """Poll it now."""
        return self._api.post("/servers/{server_id}/poll", AskedOut, server_id=server_id)

    def pause(self, server_id: int) -> ServerOut:
        """Stop polling for a while."""
        return self._api.post("/servers/{server_id}/pause", ServerOut, server_id=server_id)

    def resume(self, server_id: int) -> ServerOut:
        """Poll again."""
        return self._api.post("/servers/{server_id}/resume", ServerOut, server_id=server_id)

    def tools(self, server_id: int) -> list[ToolOut]:
        """Its tools in every profile, absent ones included."""
        return self._api.get("/servers/{server_id}/tools", list[ToolOut], server_id=server_id)

    def timeline(self, server_id: int, *, since: datetime | None = None) -> TimelineOut:
        """Streams, gaps, notifications, restarts and changes; without ``since`` of the last 90 days."""
        return self._api.get("/servers/{server_id}/timeline", TimelineOut, {"since": since}, server_id=server_id)

    def listening(self, server_id: int) -> list[HearingOut]:
        """Whether a change could be announced to each kind of client."""
        return self._api.get("/servers/{server_id}/listening", list[HearingOut], server_id=server_id)

    def findings(self, server_id: int) -> list[NoteOut]:
        """Conformance findings of what is current."""
        return self._api.get("/servers/{server_id}/findings", list[NoteOut], server_id=server_id)

    def polls(self, server_id: int) -> PollsOut:
        """How the polls went since the day before."""
        return self._api.get("/servers/{server_id}/polls", PollsOut, server_id=server_id)

    def poll_events(self, server_id: int) -> Iterator[PollEventOut]:
        """When polls began to end differently, newest first."""
        return self._api.pages("/servers/{server_id}/poll-events", PollEventOut, server_id=server_id)

    def deliveries(self, server_id: int) -> Iterator[DeliveryOut]:
        """Messages about its alerts, newest first."""
        return self._api.pages("/servers/{server_id}/deliveries", DeliveryOut, server_id=server_id)

    def as_of(self, server_id: int, at: datetime) -> AsOfOut:
        """The tool list as it was at a moment."""
        return self._api.get("/servers/{server_id}/as-of", AsOfOut, {"at": at}, server_id=server_id)

    def eras(self, server_id: int) -> list[ToolErasOut]:
        """Whether both kinds of clients see the same contract, tool by tool."""
        return self._api.get("/servers/{server_id}/eras", list[ToolErasOut], server_id=server_id)

    def pushed(self, server: PushedServerIn) -> PushedServerOut:
        """Find or register a server that driftwatch cannot reach; its snapshots are pushed."""
        return self._api.post("/servers/pushed", PushedServerOut, body=server)

    def push(self, server_id: int, snapshot: dict[str, Any]) -> TakenOut:
        """Push a snapshot, as JSON values. Whoever must keep the bytes of a list as they are sends them itself."""
        return self._api.post("/servers/{server_id}/snapshots", TakenOut, body=snapshot, server_id=server_id)
