"""The house keeps its plan: the story names the folders, pure rooms stay pure, no registry or machine is named."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

import driftwatch

REPOSITORY = Path(__file__).parents[2]
HOUSE = REPOSITORY / "driftwatch"

BESIDE_THE_WAY = {"agent", "cli", "client", "db", "testing"}

IO_LIBRARIES = {
    "aiohttp", "alembic", "anyio", "apscheduler", "asyncio", "fastapi", "http", "httpcore2", "httpx", "httpx2",
    "os", "pathlib", "procrastinate", "psycopg", "psycopg_pool", "requests", "shutil", "slack_sdk", "socket",
    "sqlalchemy", "sqlmodel", "ssl", "starlette", "subprocess", "tempfile", "threading", "urllib3", "uvicorn",
}  # fmt: skip

PURE = (
    "capture/**/*.py",
    "classify/**/*.py",
    "announcement/**/*.py",
    "alerts/policy.py",
    "alerts/ignores.py",
    "alerts/overrides.py",
    "alerts/routes.py",
    "alerts/notice.py",
    "alerts/parent.py",
    "alerts/full_diff.py",
    "alerts/events.py",
    "alerts/channels/config.py",
    "alerts/channels/webhook/answers.py",
    "alerts/message.py",
    "alerts/notices.py",
    "alerts/states.py",
    "alerts/views.py",
    "alerts/words.py",
    "alerts/channels/answer.py",
    "alerts/channels/slack/answers.py",
    "alerts/channels/slack/blocks.py",
    "agent/report.py",
    "history/ledger.py",
    "scheduler/pushed/statement.py",
    "history/changesets.py",
    "history/views.py",
    "history/field_names.py",
    "history/search_views.py",
    "wire/facts.py",
    "web/pages/contract.py",
    "web/pages/contract_diff.py",
    "web/pages/words.py",
    *(
        f"web/pages/{name}.py"
        for name in (
            "announced",
            "conformance",
            "said",
            "definitions",
            "deploy",
            "entries",
            "advice",
            "evidence_line",
            "evidence_list",
            "evidence_views",
            "kinds",
            "searching",
            "fleet",
            "found",
            "lineage",
            "models",
            "raw",
            "refusals",
            "schema_words",
            "spark",
            "story",
            "telling",
            "timeline",
            "times",
            "watched",
            "witness",
        )
    ),
    "safe_text.py",
)


def test_the_story_names_exactly_the_rooms_in_order() -> None:
    story = driftwatch.__doc__ or ""
    told = re.findall(r"^    ([a-z]+) {2,}", story, flags=re.MULTILINE)
    folders = {path.parent.name for path in HOUSE.glob("*/__init__.py")}
    assert set(told) == folders - BESIDE_THE_WAY
    assert told == [
        "servers",
        "scheduler",
        "wire",
        "capture",
        "history",
        "classify",
        "announcement",
        "alerts",
        "web",
    ]
    for beside in BESIDE_THE_WAY:
        assert f"``{beside}``" in story


def pure_modules() -> list[Path]:
    return sorted({path for pattern in PURE for path in HOUSE.glob(pattern)})


def imported(path: Path) -> set[str]:
    """Top-level names of everything the module imports when it is loaded, type-checking imports left out."""
    names: set[str] = set()
    tree = ast.parse(path.read_text())
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_every_pure_pattern_finds_its_modules() -> None:
    assert [pattern for pattern in PURE if not list(HOUSE.glob(pattern))] == []


@pytest.mark.parametrize("path", pure_modules(), ids=lambda path: str(path.relative_to(HOUSE)))
def test_pure_rooms_import_no_io(path: Path) -> None:
    names = imported(path)
    assert {name for name in names if name.split(".")[0] in IO_LIBRARIES} == set()
    impure = {f"driftwatch.{room}" for room in ("db", "scheduler", "cli", "web.api", "web.auth", "testing", "app")}
    assert {name for name in names if any(name == i or name.startswith(f"{i}.") for i in impure)} == set()


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, check=True, text=True
    ).stdout.split("\0")
    return [REPOSITORY / name for name in listed if name and (REPOSITORY / name).is_file()]


HOSTS = "|".join([r"pypi\." + "org", r"files\." + "pythonhosted", r"registry\." + "npmjs", r"deb\." + r"debian\.org"])
MACHINE = re.compile(r"(?<![\w.])/(?:" + "work" + r"|farm|root)/[a-z.]")


def test_no_file_names_a_registry_or_a_machine() -> None:
    guilty = []
    for path in tracked():
        if path.suffix in {".png", ".ico"}:
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if re.search(HOSTS, text) or MACHINE.search(text):
            guilty.append(str(path.relative_to(REPOSITORY)))
    assert guilty == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    vague = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}
    assert [p for p in HOUSE.rglob("*.py") if p.stem in vague or p.parent.name in vague] == []
