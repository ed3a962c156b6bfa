"""The process of authority_process.py as tests see it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from driftwatch.wire.grants import ClientSecret, PrivateKeyJwt

CLIENT_ID = "driftwatch"
CLIENT_SECRET = "s3cr3t/with:signs"
PLAIN = {"life": 3600, "token": "grant", "scopes": "", "issuer": ""}


def pem() -> tuple[str, str]:
    """A new key for ES256: (private, public)."""
    key = ec.generate_private_key(ec.SECP256R1())
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()


@dataclass(frozen=True)
class AuthorityProcess:
    """``issuer``: the authorization server; ``mcp``: the server that demands its tokens."""

    issuer: str
    mcp: str
    private_key: str

    def secret(self, *scopes: str, **fields: Any) -> ClientSecret:
        """The grant it knows, by secret."""
        return ClientSecret(**{"issuer": self.issuer, "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET,
                               "scopes": scopes, **fields})  # fmt: skip

    def key(self, *scopes: str, **fields: Any) -> PrivateKeyJwt:
        """The grant it knows, by signature."""
        return PrivateKeyJwt(**{"issuer": self.issuer, "client_id": CLIENT_ID, "private_key": self.private_key,
                                "scopes": scopes, "algorithm": "ES256", **fields})  # fmt: skip

    def behave(self, **options: Any) -> None:
        """From now on: see ``Options``."""
        self._post("/ctl", options)

    def revoke(self) -> None:
        """Forget every token."""
        self._post("/revoke", {})

    def publish(self) -> None:
        """Let the MCP server announce a changed list."""
        httpx2.post(self.mcp.replace("/mcp", "/publish"), trust_env=False).raise_for_status()

    def seen(self) -> dict[str, Any]:
        """{tokens: requests for one, asked: tokens the MCP server was shown, valid}."""
        found: dict[str, Any] = httpx2.get(f"{self.issuer}/seen", trust_env=False).json()
        return found

    def _post(self, path: str, body: Any) -> None:
        httpx2.post(f"{self.issuer}{path}", json=body, trust_env=False).raise_for_status()


@contextmanager
def running() -> Iterator[AuthorityProcess]:
    """Start it, and end it."""
    private, public = pem()
    with tempfile.TemporaryDirectory(prefix="dw-") as folder:
        file = Path(folder) / "public.pem"
        file.write_text(public)
        script = Path(__file__).with_name("authority_process.py")
        command = [sys.executable, str(script), str(file), CLIENT_ID, CLIENT_SECRET]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        try:
            assert process.stdout is not None
            told = json.loads(process.stdout.readline())
            yield AuthorityProcess(told["issuer"], told["mcp"], private)
        finally:
            process.terminate()
            process.wait(30)
            assert process.stdout is not None
            process.stdout.close()
