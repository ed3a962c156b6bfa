"""Every way a server can fail to be read, by name.

WireError (driftwatch.errors)
├── BadTargetError             bad-target           the URL or a header cannot be sent
├── BlockedAddressError        blocked-address      the host is, or resolves to, space that may not be watched
├── UnreachableError           unreachable          no name, no route, or the connection broke
│   ├── RefusedError           refused              nobody listens there
│   ├── CommandError           command-failed       the command of a stdio server cannot be started
│   ├── ExitedError            process-exited       the command ended
│   └── TlsError               tls-failed           the certificate or the handshake is bad
├── PollTimeoutError           timeout              the deadline of the whole poll passed
├── UnauthorizedError          unauthorized         401
│   └── ForbiddenServerError   forbidden            403
├── TokenRefusedError          token-refused        the authorization server refuses our credential
├── NoTokenError               no-token             the authorization server could not be asked, or answered nonsense
├── EndpointNotFoundError      not-found            404, 405, 410
├── RateLimitedError           rate-limited         429
├── ServerError                server-error         5xx, or JSON-RPC -32603
├── RpcError                   rpc-error            any other JSON-RPC error
├── NotServingToolsError       not-serving-tools    -32601 from a server that declares no tools: a state, not an outage
├── SessionLostError           session-lost         a new session was lost at once
├── RedirectedError            redirected           a redirect that may not be followed
├── NotMcpError                not-mcp              an answer that is no JSON-RPC
│   └── EraNotSpokenError      era-not-spoken       the server answers, but not in this era
├── UnsupportedVersionError    unsupported-version  no protocol version in common
├── BadJsonError               bad-json             JSON that is none
├── BadResultError             bad-result           a result that is no tool list
├── CompressedError            compressed           compressed although identity was asked for
├── TooLargeError              too-large            more bytes than the cap
├── TooDeepError               too-deep             nested deeper, or with more values, than the caps
├── TooManyPagesError          too-many-pages
├── TooManyToolsError          too-many-tools
├── RepeatedCursorError        repeated-cursor      the same nextCursor twice: the list would never end
└── IncompleteWalkError        incomplete-walk      some pages came and then one did not
"""

from __future__ import annotations

from typing import ClassVar

from driftwatch.errors import WireError
from driftwatch.wire.challenge import Challenge, next_step


class NamedWireError(WireError):
    """A WireError with a standing hint, ``advice``, which ``hint=`` overrides."""

    advice: ClassVar[str]

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        status: int | None = None,
        retry_after: float | None = None,
        restart_kind: str | None = None,
    ) -> None:
        super().__init__(
            message, hint=hint or self.advice, status=status, retry_after=retry_after, restart_kind=restart_kind
        )


class BadTargetError(NamedWireError):
    """The URL or a header of the registration cannot be sent."""

    code = "bad-target"
    permanent = True
    advice = "Register an http(s) URL without user name, fragment or backslash, and headers in plain ASCII."


class BlockedAddressError(NamedWireError):
    """The host is, or resolves to, address space that may not be watched."""

    code = "blocked-address"
    permanent = True
    advice = "Private networks must be listed in DRIFTWATCH_ALLOW_NETWORKS; metadata addresses are never allowed."


class UnreachableError(NamedWireError):
    """No name, no route, or the connection broke."""

    code = "unreachable"
    advice = "Check the host name, and that the server can be reached from where driftwatch runs."


class RefusedError(UnreachableError):
    """Nobody listens on the port: the server is down or restarting."""

    code = "refused"
    advice = "Nothing listens on that port; check that the server runs."


class CommandError(UnreachableError):
    """The command of a stdio server cannot be started."""

    code = "command-failed"
    advice = "Check the command by hand; it gets a minimal environment, so name what else it needs with --env."


class ExitedError(UnreachableError):
    """The process of a stdio server ended, or closed its output."""

    code = "process-exited"
    advice = "Run the command by hand and see what it says on standard error."


class TlsError(UnreachableError):
    """The certificate is not valid for the host, or the handshake failed."""

    code = "tls-failed"
    advice = "Check the server's certificate chain and host name."


class PollTimeoutError(NamedWireError):
    """The deadline of the whole poll (or detection) passed."""

    code = "timeout"
    advice = "The server was too slow; DRIFTWATCH_POLL_TIMEOUT_SECONDS is the deadline of one whole poll."


class UnauthorizedError(NamedWireError):
    """401: the server wants a credential, or another one. ``challenge``: what it said it wants, if it did."""

    code = "unauthorized"
    permanent = True
    advice = "Set or renew the server's credential."

    def __init__(self, message: str, *, status: int | None = None, challenge: Challenge | None = None) -> None:
        super().__init__(message, hint=next_step(challenge, status), status=status)
        self.challenge = challenge


class ForbiddenServerError(UnauthorizedError):
    """403: the server knows the credential and does not let it list tools."""

    code = "forbidden"
    permanent = True
    advice = "Give the credential the right to list tools."


class TokenRefusedError(NamedWireError):
    """The authorization server knows what we ask for and says no. ``oauth_error``: RFC 6749's code."""

    code = "token-refused"
    permanent = True
    advice = "Check client id, secret or key, and scopes at the authorization server; then set the credential anew."

    def __init__(
        self, message: str, *, hint: str | None = None, status: int | None = None, oauth_error: str = ""
    ) -> None:
        super().__init__(message, hint=hint, status=status)
        self.oauth_error = oauth_error


class NoTokenError(NamedWireError):
    """No token could be had: the authorization server cannot be found or reached, or what it says is of no use."""

    code = "no-token"
    advice = "Check the credential's issuer, and that driftwatch can reach the authorization server."


class EndpointNotFoundError(NamedWireError):
    """404, 405 or 410: no MCP endpoint at this path."""

    code = "not-found"
    advice = "Check the path; most servers answer at /mcp or /sse."


class RateLimitedError(NamedWireError):
    """429: the server asks us to slow down; ``retry_after`` says how long, in seconds."""

    code = "rate-limited"
    advice = "Poll less often, or ask the server's owner for a higher limit."


class ServerError(NamedWireError):
    """5xx, or JSON-RPC -32603: the server itself says that it failed."""

    code = "server-error"
    advice = "The server failed; its own log knows why."


class RpcError(NamedWireError):
    """The server answered with a JSON-RPC error. ``rpc_code`` is its code."""

    code = "rpc-error"
    advice = "The server refused the request; its own log knows why."

    def __init__(self, message: str, *, rpc_code: int, status: int | None = None) -> None:
        super().__init__(message, status=status)
        self.rpc_code = rpc_code


class NotServingToolsError(NamedWireError):
    """-32601 for tools/list from a server that declares no tools: a state, neither an outage nor a removal."""

    code = "not-serving-tools"
    advice = "The server declares no tools; nothing to watch until it does."


class SessionLostError(NamedWireError):
    """A session was lost right after it was opened: requests land on servers that do not know it."""

    code = "session-lost"
    advice = "Behind a load balancer, make sessions sticky or the server stateless."


class RedirectedError(NamedWireError):
    """A redirect that is not a same-origin 307 or 308."""

    code = "redirected"
    permanent = True
    advice = "Register the address the server redirects to."


class NotMcpError(NamedWireError):
    """The answer is no JSON-RPC message."""

    code = "not-mcp"
    advice = "Something answers there, but not as an MCP server; check the URL."


class EraNotSpokenError(NotMcpError):
    """The server answers, but does not speak this era. Not a failure where the other era is found."""

    code = "era-not-spoken"
    permanent = True
    advice = "Watch the era the server speaks."


class UnsupportedVersionError(NamedWireError):
    """The server speaks the era, but no protocol version that we know."""

    code = "unsupported-version"
    permanent = True
    advice = "Upgrade driftwatch, or the server."


class BadJsonError(NamedWireError):
    """The body claims to be JSON and is not (also: NaN, Infinity)."""

    code = "bad-json"
    advice = "The server sends malformed JSON; strict clients cannot read it either."


class BadResultError(NamedWireError):
    """The result is no tool list (or no initialize or discover result)."""

    code = "bad-result"
    advice = "The server's answer does not have the shape the protocol asks for."


class CompressedError(NamedWireError):
    """The body is compressed although we asked for identity: refused, because of decompression bombs."""

    code = "compressed"
    advice = "Make the server (or the proxy before it) honour 'accept-encoding: identity'."


class TooLargeError(NamedWireError):
    """The answer has more bytes than the cap."""

    code = "too-large"
    advice = "DRIFTWATCH_MAX_BODY_BYTES is the cap of one poll."


class TooDeepError(NamedWireError):
    """The answer is nested deeper, or holds more values, than any real tool list."""

    code = "too-deep"
    advice = "No real tool list is built like this; ask the server's owner."


class TooManyPagesError(NamedWireError):
    """The list has more pages than the cap."""

    code = "too-many-pages"
    advice = "DRIFTWATCH_MAX_PAGES is the cap of one poll."


class TooManyToolsError(NamedWireError):
    """The list has more tools than the cap."""

    code = "too-many-tools"
    advice = "DRIFTWATCH_MAX_TOOLS is the cap of one list."


class RepeatedCursorError(NamedWireError):
    """The same nextCursor came twice: the list would never end."""

    code = "repeated-cursor"
    advice = "The server's pagination is broken: clients that walk the pages never finish."


class IncompleteWalkError(NamedWireError):
    """Some pages came and then one did not. A part of a list proves nothing."""

    code = "incomplete-walk"
    advice = "Every page must come; driftwatch never draws conclusions from a part of a list."
