"""How the API writes JSON: in ASCII, because watched servers send strings that UTF-8 has no bytes for."""

from __future__ import annotations

import json
from typing import Any

from fastapi.responses import JSONResponse


class AsciiJSONResponse(JSONResponse):
    r"""JSON with every other character as ``\uXXXX``: a lone surrogate in a tool's name arrives as it was sent."""

    def render(self, content: Any) -> bytes:
        """See starlette."""
        return json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii")
