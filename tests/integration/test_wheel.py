"""What people install: a wheel in an environment of its own, far from this source tree."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


def run(*command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(word) for word in command],
        cwd="/",
        capture_output=True,
        text=True,
        timeout=120,
        env={"PATH": os.environ["PATH"], **variables},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = "from hatchling.build import build_wheel; import sys; print(build_wheel(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", build, str(folder)], cwd=REPOSITORY, check=True, timeout=120)
    (made,) = folder.glob("driftwatch_mcp-*.whl")
    return made


@pytest.fixture(scope="module")
def driftwatch(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of an environment that holds the wheel; its dependencies are this environment's."""
    folder = tmp_path_factory.mktemp("with space") / "environment"
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel)
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").stdout.strip())
    # The path of a .pth file is searched last and its own .pth files are not read: the source tree stays out.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    where = run(python, "-c", "import driftwatch; print(driftwatch.__file__)").stdout
    assert where.startswith(str(site))
    return folder / "bin" / "driftwatch"


def test_the_wheel_holds_migrations_templates_and_types(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    tracked = subprocess.run(
        ["git", "ls-files", "-z", "driftwatch", "alembic", "docs/announce"],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.rstrip("\0")
    inside = {"alembic/": "driftwatch/db/migrations/", "docs/announce/": "driftwatch/web/announce/"}
    wanted = {re.sub("^(alembic|docs/announce)/", lambda m: inside[m[0]], name) for name in tracked.split("\0")}
    assert "driftwatch/db/migrations/env.py" in wanted
    assert wanted - names == set()
    assert "driftwatch/py.typed" in names


def test_the_installed_command_migrates_a_database(driftwatch: Path, empty_database_url: str) -> None:
    run(driftwatch, "db", "upgrade", DRIFTWATCH_DATABASE_URL=empty_database_url)
    checked = run(driftwatch, "db", "check", DRIFTWATCH_DATABASE_URL=empty_database_url)
    assert checked.stdout == "The database is up to date.\n"


def test_the_installed_command_starts_its_own_postgres(driftwatch: Path, short_folder: Path) -> None:
    run(driftwatch, "db", "upgrade", DRIFTWATCH_HOME=str(short_folder / "a home"))
    assert (short_folder / "a home" / "pg" / "data" / "PG_VERSION").exists()
