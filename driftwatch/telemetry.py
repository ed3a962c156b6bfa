"""What a process says about itself: log lines, metrics, readiness."""

from __future__ import annotations

import asyncio
import logging
import re
import sys
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TextIO

import structlog
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)
from pydantic import SecretBytes, SecretStr
from sqlalchemy import text

from driftwatch.safe_text import safe_text

if TYPE_CHECKING:
    from driftwatch.app import Services

disable_created_metrics()  # type: ignore[no-untyped-call] # as published; a series more for every counter
#: what this process counts; what the database knows is read when somebody asks (alerts.gauges, scheduler.gauges)
REGISTRY: Final = CollectorRegistry()
ProcessCollector(registry=REGISTRY)
PlatformCollector(registry=REGISTRY)
ROLE_UP: Final = Gauge("driftwatch_role_up", "1 while the role runs in this process.", ["role"], registry=REGISTRY)
ROLE_RESTARTS: Final = Counter(
    "driftwatch_role_restarts", "How often a role ended and was started again.", ["role"], registry=REGISTRY
)
VERDICTS: Final = Counter(
    "driftwatch_classifier_verdicts",
    "Changes assessed, by the worst verdict of their parts.",
    ["verdict"],
    registry=REGISTRY,
)
DISAGREEMENTS: Final = Counter(
    "driftwatch_classifier_disagreements",
    "Parts left undecided because two provers, or a prover and a validator, contradict each other: a fault in one.",
    registry=REGISTRY,
)
POLLS: Final = Counter(
    "driftwatch_polls",
    "Polls made, by how they ended: unchanged, different, or the code of the error.",
    ["outcome"],
    registry=REGISTRY,
)
POLL_SECONDS: Final = Histogram(
    "driftwatch_poll_seconds",
    "Wall time of one poll: every page, and storing what differs.",
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
    registry=REGISTRY,
)
POLL_LATENESS: Final = Histogram(
    "driftwatch_poll_lateness_seconds",
    "From the time a poll was due to its beginning.",
    buckets=(0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600),
    registry=REGISTRY,
)
TICK_AGE: Final = Gauge(
    "driftwatch_tick_age_seconds", "Time since this process last handed out due polls.", registry=REGISTRY
)
STREAMS: Final = Gauge("driftwatch_streams", "Change streams this process listens to.", registry=REGISTRY)
STREAM_ENDS: Final = Counter(
    "driftwatch_stream_ends", "Streams that ended, by whose doing: server, or us.", ["by"], registry=REGISTRY
)
NOTIFICATIONS: Final = Counter(
    "driftwatch_notifications", "list_changed notifications heard on streams, bursts as one.", registry=REGISTRY
)
CLASSIFIER_SECONDS: Final = Histogram(
    "driftwatch_classifier_seconds",
    "Wall time of an assessment, with the way to the sandbox and back.",
    buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5),
    registry=REGISTRY,
)

log = structlog.get_logger(__name__)

DATABASE_SECONDS: Final = 2.0
#: libraries that report every step they take; their warnings are wanted, their chatter is not
CHATTY: Final = (
    "alembic",
    "apscheduler",
    "procrastinate",
    "uvicorn",
    "httpx2",
    "httpcore2",
    "mcp",
    "slack_sdk",
    "asyncio",
)
#: names of values that are never written, whatever they are
SECRET_NAME: Final = re.compile(
    r"token|secret|password|authorization|cookie|headers|webhook|credential|private_key|assertion", re.IGNORECASE
)
#: secrets that may hide inside other text: our tokens, bearer tokens and basic pairs, login links, Slack webhooks,
#: passwords in URLs, private keys
SECRET_TEXT: Final = re.compile(
    r"dw_[\w-]{16,}|xox[a-z]-[\w-]+|whsec_[\w+/=]+|(?<=bearer )[\w.~+/=-]+|(?<=authorization: basic )[\w+/=]+|(?<=/login/)[\w-]{16,}|(?<=/services/)[\w/]+|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"
    r"|(?<=PRIVATE KEY-----)[\w+/=\s\\]+",
    re.IGNORECASE,
)
HIDDEN: Final = "[hidden]"


def without_secrets(value: str) -> str:
    """The text with everything in it that looks like a secret of ours replaced."""
    return SECRET_TEXT.sub(HIDDEN, value)


def _clean(name: str, value: Any) -> Any:
    if isinstance(value, SecretStr | SecretBytes) or (
        SECRET_NAME.search(name) and isinstance(value, str | bytes | dict)
    ):
        return HIDDEN
    if isinstance(value, str):
        return safe_text(without_secrets(value))
    if isinstance(value, Mapping):
        return {key: _clean(str(key), item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(name, item) for item in value]
    return value


def clean_event(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """A structlog processor: no secrets, and no control or direction characters from servers."""
    return {name: _clean(name, value) for name, value in event.items()}


def configure_logging(log_format: str, stream: TextIO | None = None, *, level: int = logging.INFO) -> None:
    """Send every log line, our own and the libraries', through one formatter to ``stream`` (default: stderr).

    Args:
        log_format: ``text``, ``json``, or ``auto``: text on a terminal, else JSON.
        stream: where lines go.
        level: the least severe lines that are shown.
    """
    target = sys.stderr if stream is None else stream
    as_text = log_format == "text" or (log_format == "auto" and target.isatty())
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="%H:%M:%S" if as_text else "iso", utc=not as_text),
        structlog.processors.format_exc_info,
    ]
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer(colors=target.isatty()) if as_text else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(target)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, clean_event, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    for name in CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)


class Health:
    """What the roles of this process say about themselves. A probe answers None, or words for what is wrong."""

    def __init__(self) -> None:
        self._probes: dict[str, Callable[[], str | None]] = {}

    def watch(self, name: str, probe: Callable[[], str | None]) -> None:
        """Ask ``probe`` whenever readiness is asked; a later one of the same name replaces it."""
        self._probes[name] = probe

    def problems(self) -> dict[str, str | None]:
        """Every probe's answer now."""
        return {name: probe() for name, probe in self._probes.items()}


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether the roles of a process can work; ``checks`` maps each one to None or to what is wrong."""

    checks: Mapping[str, str | None]

    @property
    def ready(self) -> bool:
        """True when nothing is wrong."""
        return not any(self.checks.values())

    def as_dict(self) -> dict[str, Any]:
        """The body of /readyz."""
        return {
            "status": "ready" if self.ready else "not-ready",
            "checks": {name: problem or "ok" for name, problem in self.checks.items()},
        }


async def readiness(services: Services) -> Readiness:
    """Ask the database and every role of this process."""
    return Readiness({"database": await _database_problem(services), **services.health.problems()})


async def _database_problem(services: Services) -> str | None:
    try:
        async with asyncio.timeout(DATABASE_SECONDS), services.db.engine.connect() as connection:
            await connection.execute(text("SELECT 1"))
    except TimeoutError:
        return f"did not answer within {DATABASE_SECONDS:.0f} s"
    except Exception as error:  # whatever the driver raises: the answer is that it cannot be used
        log.warning("database not usable", error=str(error))
        return f"cannot be used ({type(error).__name__})"
    return None
