"""procrastinate's version is pinned to the schema the migrations carry."""

import hashlib
import importlib.util
from pathlib import Path

from procrastinate.schema import SchemaManager


def test_the_migration_was_made_for_the_installed_procrastinate() -> None:
    file = Path(__file__).parents[3] / "alembic" / "versions" / "0001_first_schema.py"
    spec = importlib.util.spec_from_file_location("first_schema", file)
    assert spec is not None
    assert spec.loader is not None
    migration = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(migration)

    installed = hashlib.sha256(SchemaManager.get_schema().encode()).hexdigest()

    assert installed == migration.PROCRASTINATE_SCHEMA_SHA256


def test_no_package_shadows_alembic() -> None:
    assert not (Path(__file__).parents[3] / "alembic" / "__init__.py").exists()
