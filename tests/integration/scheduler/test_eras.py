"""Finding eras anew beside everything else that happens to a server."""

from __future__ import annotations

import pytest

from driftwatch.app import Services
from driftwatch.scheduler import eras
from driftwatch.scheduler.model import Visit
from driftwatch.servers.authorization import Authorization
from driftwatch.servers.errors import ServerNotFoundError
from driftwatch.testing.shop import Shop

pytestmark = pytest.mark.postgres


async def test_a_server_deleted_during_its_detection_keeps_no_session_of_ours(services: Services, shop: Shop) -> None:
    gone = Visit(server_id=404, url=shop.url, host="x:1", eras=None, detected=False, spread=0.5, claims=())
    with pytest.raises(ServerNotFoundError):
        await eras.detect_if_due(services, gone, Authorization(services.wire, shop.url, None))
    assert len(shop._server.session_manager._server_instances) == 0
