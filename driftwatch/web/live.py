"""What keeps open pages true: one watch per process over the newest rows, told to open pages as server-sent events.

An event names the servers it is about; a page that shows one of them, or all, loads itself again. No page depends on
it: without script, or without this stream, every page is complete and as old as its load.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import structlog
from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from driftwatch.db.engine import Database, run_sql
from driftwatch.web.auth.dependencies import PageVisitor

if TYPE_CHECKING:
    from driftwatch.app import Services

log = structlog.get_logger(__name__)

LOOK_SECONDS: Final = 1.0
#: a comment this often keeps proxies from closing a quiet stream and finds readers that went away
ALIVE_SECONDS: Final = 15.0
MAX_READERS: Final = 200
_QUEUE: Final = 4

# The newest row of everything a page shows; each is one look at the end of a primary key.
_NEWEST = text("""
SELECT (SELECT max(id) FROM change), (SELECT max(id) FROM assessment), (SELECT max(id) FROM judgement),
       (SELECT max(id) FROM alert_event), (SELECT max(id) FROM acceptance), (SELECT max(id) FROM poll_event),
       (SELECT max(id) FROM notification), (SELECT max(id) FROM restart_evidence), (SELECT max(id) FROM snapshot)
""")
_SERVERS = text("""
SELECT server_id FROM change WHERE id > :change
UNION SELECT c.server_id FROM assessment a JOIN change c ON c.id = a.change_id WHERE a.id > :assessment
UNION SELECT c.server_id FROM judgement j JOIN change c ON c.id = j.change_id WHERE j.id > :judgement
UNION SELECT a.server_id FROM alert_event e JOIN alert a ON a.id = e.alert_id WHERE e.id > :event
UNION SELECT p.server_id FROM acceptance x JOIN tool t ON t.id = x.tool_id JOIN profile p ON p.id = t.profile_id
  WHERE x.id > :acceptance
UNION SELECT p.server_id FROM poll_event e JOIN profile p ON p.id = e.profile_id WHERE e.id > :poll
UNION SELECT p.server_id FROM notification n JOIN profile p ON p.id = n.profile_id WHERE n.id > :notification
UNION SELECT p.server_id FROM restart_evidence r JOIN profile p ON p.id = r.profile_id WHERE r.id > :restart
UNION SELECT p.server_id FROM snapshot s JOIN profile p ON p.id = s.profile_id WHERE s.id > :snapshot
LIMIT 500
""")
_NAMES: Final = (
    "change",
    "assessment",
    "judgement",
    "event",
    "acceptance",
    "poll",
    "notification",
    "restart",
    "snapshot",
)


@dataclass
class Live:
    """The open pages of this process, and the one task that watches for them while there are any."""

    db: Database
    readers: set[asyncio.Queue[str | None]] = field(default_factory=set)
    _task: asyncio.Task[None] | None = None
    _closed: bool = False

    async def events(self) -> AsyncIterator[str]:
        """Server-sent events for one reader, until it leaves or the process ends."""
        queue: asyncio.Queue[str | None] = asyncio.Queue(_QUEUE)
        self.readers.add(queue)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._watch())
        try:
            yield "retry: 3000\n\n"
            while not self._closed:
                try:
                    event = await asyncio.wait_for(queue.get(), ALIVE_SECONDS)
                except TimeoutError:
                    yield ": alive\n\n"
                    continue
                if event is None:
                    return
                yield event
        finally:
            self.readers.discard(queue)

    def full(self) -> bool:
        """True when no further page can be kept up to date."""
        return self._closed or len(self.readers) >= MAX_READERS

    def close(self) -> None:
        """End every stream: the process stops."""
        self._closed = True
        self._tell(None)
        if self._task is not None:
            self._task.cancel()

    async def _watch(self) -> None:
        last: dict[str, int] | None = None
        while self.readers and not self._closed:
            with contextlib.suppress(SQLAlchemyError):  # the database is away: pages stay as they are, marked by age
                last = await self._look(last)
            await asyncio.sleep(LOOK_SECONDS)

    async def _look(self, last: dict[str, int] | None) -> dict[str, int]:
        async with self.db.transaction() as session:
            newest: Any = (await run_sql(session, _NEWEST)).one()
            seen = {name: value or 0 for name, value in zip(_NAMES, newest, strict=True)}
            if last is None or seen == last:
                return seen
            servers = sorted((await run_sql(session, _SERVERS, last)).scalars())
        self._tell(f"event: changed\ndata: {json.dumps({'servers': servers})}\n\n")
        return seen

    def _tell(self, event: str | None) -> None:
        for queue in self.readers:
            if queue.full():  # a slow reader loses old news: the next event makes it load the page anyway
                queue.get_nowait()
            queue.put_nowait(event)


def router(services: Services, live: Live) -> APIRouter:
    """The route of the events."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/live")
    async def events(request: Request, visitor: PageVisitor) -> Response:
        if live.full():
            return Response(status_code=503, headers={"retry-after": "60"})
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(live.events(), media_type="text/event-stream", headers=headers)

    return routes
