"""Postgres: where it runs (embedded or external), column types, migrations, the clock everything is dated by."""
