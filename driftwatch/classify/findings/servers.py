"""Rules about servers and their lists. Other rooms find these; here is what they are called and why they matter."""

from __future__ import annotations

from typing import Final

from driftwatch.classify.findings.rule import Example, Rule

PROTOCOL: Final = Rule(
    id="protocol-version-changed",
    level="info",
    direction="both",
    effect="none",
    why="The server negotiates another protocol version than before: what clients may ask of it changed.",
    words="the server now speaks 2025-11-25 (was 2025-06-18)",
    example=Example("2025-06-18", "2025-11-25"),
    subject="server",
)
SDK_VERSION: Final = Rule(
    id="version-is-the-sdks",
    level="info",
    direction="both",
    effect="none",
    why="The server reports its SDK's version as its own, so its version says nothing about its tools.",
    words="serverInfo.version is the SDK's: 1.27.0",
    example=Example("1.26.0", "1.27.0"),
    subject="server",
)
VOLATILE: Final = Rule(
    id="volatile",
    level="info",
    direction="both",
    effect="none",
    why="A value in the definition changes by itself (a clock, a set in another order): it is masked for alerts.",
    words="the default of `at` changes by itself",
    example=Example("2026-11-30T14:02:00Z", "2026-11-30T14:07:00Z"),
    subject="server",
)
HIDDEN: Final = Rule(
    id="hidden-characters",
    level="warning",
    direction="both",
    effect="none",
    why="Invisible characters can hide instructions from people that models still read.",
    words="holds characters that people cannot see",
    example=Example("Search", "Search\u200b"),
    subject="server",
)
RULES: Final = (PROTOCOL, SDK_VERSION, VOLATILE, HIDDEN)
