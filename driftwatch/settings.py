"""Every setting, read from the environment (prefix ``DRIFTWATCH_``). docs/settings.md is checked against this class."""

from __future__ import annotations

import ipaddress
import os
from pathlib import Path
from typing import Annotated, Any

import platformdirs
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from driftwatch.errors import SettingsError


def default_home() -> Path:
    """The data directory: /var/lib/driftwatch for root, else the XDG data directory."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return Path("/var/lib/driftwatch")
    return Path(platformdirs.user_data_dir("driftwatch"))


class Settings(BaseSettings):
    """All of driftwatch's settings. Durations are seconds unless the name says otherwise."""

    model_config = SettingsConfigDict(env_prefix="DRIFTWATCH_", env_ignore_empty=True, extra="ignore", frozen=True)

    home: Path = Field(
        default_factory=default_home, description="Data directory: embedded Postgres, keys, admin token."
    )
    database_url: SecretStr | None = Field(
        default=None,
        description="PostgreSQL 15 or newer (postgresql://…). Unset: an embedded Postgres in the home.",
    )
    pg_bin: Path | None = Field(
        default=None, description="Folder with postgres and initdb, instead of the embedded extra's binaries."
    )
    host: str = Field(default="127.0.0.1", description="Listen address of the web role.")
    port: int = Field(default=8787, ge=0, le=65535, description="Listen port of the web role.")
    health_port: int | None = Field(
        default=None,
        ge=1,
        le=65535,
        description="Port of every role that answers /healthz, /readyz and /metrics without a token. Unset: none.",
    )
    base_url: str | None = Field(
        default=None, description="Public address used in links of messages; default http://HOST:PORT."
    )
    admin_token: SecretStr | None = Field(
        default=None, description="Admin API token; unset: generated into HOME/admin-token (0600) at first start."
    )
    secret_key: SecretStr | None = Field(
        default=None,
        description="Fernet keys for stored credentials, comma-separated, newest first; unset: generated in the home.",
    )
    allow_networks: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Private space that may be watched: comma-separated CIDRs or host names. Empty: public only.",
    )
    slack_webhook_url: SecretStr | None = Field(
        default=None, description="Slack incoming webhook that becomes the default channel."
    )
    slack_allow_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Hosts besides hooks.slack.com and slack.com that Slack messages may go to."
    )
    slack_api_url: str = Field(
        default="https://slack.com/api/", description="Base of Slack's web API, for channels of kind slack-app."
    )
    slack_signing_secret: SecretStr | None = Field(
        default=None, description="Signing secret of the Slack app; unset: its buttons are refused."
    )
    messages_per_hour: int = Field(
        default=6, ge=0, description="Messages about one server in an hour; more come as one summary. 0: no limit."
    )
    reminder_hours: float = Field(
        default=0, ge=0, description="Remind of an alert nobody acknowledged after this long. 0: never."
    )
    heartbeat_url: SecretStr | None = Field(
        default=None, description="Told regularly that driftwatch is alive, so that another monitor misses it."
    )
    heartbeat_seconds: float = Field(default=60, ge=5, description="How often the heartbeat URL is told.")
    announcement_lead_seconds: float = Field(
        default=60, ge=0, description="A notification this long before a window counts."
    )
    announcement_lag_seconds: float = Field(
        default=60, ge=0, description="A notification this long after a window counts."
    )
    announcement_roll_seconds: float = Field(
        default=900, ge=0, description="Restart evidence this long after a window counts."
    )
    announcement_grace_seconds: float = Field(default=30, ge=0, description="Waiting time for coverage before judging.")
    collect_seconds: float = Field(
        default=10, ge=0, description="Changes of one deploy are collected this long before posting."
    )
    confirm_seconds: Annotated[tuple[float, ...], NoDecode] = Field(
        default=(1.0, 5.0), description="Earliest and latest confirmation poll after a difference was seen."
    )
    removal_seconds: float = Field(default=60, ge=0, description="A removal needs three sightings over this long.")
    settle_days: float = Field(
        default=14, gt=0, description="Breaking alerts of followed servers settle after this long."
    )
    interval_seconds: int = Field(default=300, ge=10, description="Default poll interval of a newly registered server.")
    min_interval_seconds: float = Field(default=10, gt=0, description="Smallest interval the API accepts.")
    poll_timeout_seconds: float = Field(default=30, gt=0, description="Deadline of one whole poll, all pages.")
    max_body_bytes: int = Field(default=4 * 1024 * 1024, description="Cap of one poll's bytes.")
    max_pages: int = Field(default=100, description="Cap of tools/list pages in one poll.")
    max_tools: int = Field(default=2000, description="Cap of tools in one list.")
    not_watching_seconds: float = Field(
        default=3600, description="Blind for this long (and three polls) raises an alert."
    )
    classify_timeout_seconds: float = Field(default=10, gt=0, description="Wall limit of one classification.")
    classify_memory_mib: int = Field(default=1024, ge=128, description="Memory limit of the classifier process.")
    summary_hour_utc: int = Field(default=8, ge=0, le=23, description="Hour of the daily summary, UTC.")
    public_badges: bool = Field(
        default=False,
        description="Badges of servers and tools answer without a session or token: their state, no more.",
    )
    demo: bool = Field(
        default=False, description="Play the demo: a server that drifts, and a fake Slack at /demo/slack."
    )
    log_format: str = Field(
        default="auto", pattern="^(auto|text|json)$", description="auto: text on a terminal, else JSON."
    )

    @field_validator("allow_networks", "slack_allow_hosts", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(p.strip() for p in value.split(",") if p.strip()) if isinstance(value, str) else value

    @field_validator("confirm_seconds", mode="before")
    @classmethod
    def _floats(cls, value: object) -> object:
        return tuple(float(p) for p in value.split(",")) if isinstance(value, str) else value

    @field_validator("allow_networks")
    @classmethod
    def _networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for entry in value:
            if "/" in entry:
                ipaddress.ip_network(entry, strict=False)
        return value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment, then the files it names."""
        return init_settings, env_settings, _SecretFiles(settings_cls)

    @property
    def public_url(self) -> str:
        """Base of links in messages, without a trailing slash."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (self.base_url or f"http://{host}:{self.port}").rstrip("/")


class _SecretFiles(PydanticBaseSettingsSource):
    """For every secret setting X, the content of the file that ``DRIFTWATCH_X_FILE`` names."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """See pydantic-settings."""
        name = f"DRIFTWATCH_{field_name.upper()}_FILE"
        if field.annotation != SecretStr | None or name not in os.environ:
            return None, field_name, False
        try:
            return Path(os.environ[name]).read_text().strip(), field_name, False
        except OSError as error:
            raise SettingsError(f"{name}: {error.strerror}", hint="Name a file that this user can read.") from error

    def __call__(self) -> dict[str, Any]:
        """See pydantic-settings."""
        fields = self.settings_cls.model_fields.items()
        values = {name: self.get_field_value(field, name)[0] for name, field in fields}
        return {name: value for name, value in values.items() if value is not None}


def load_settings(**given: Any) -> Settings:
    """The settings of this process; ``given`` ones (command line options) go before the environment.

    Raises:
        SettingsError: a value cannot be used; the message names its variable.
    """
    try:
        return Settings(**given)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = "_".join(str(part) for part in first["loc"][:1]).upper()
        raise SettingsError(f"DRIFTWATCH_{name}: {first['msg']}", hint="See docs/settings.md.") from None
