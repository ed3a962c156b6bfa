"""Patterns as ECMA-262 reads them: their syntax, and members to try. Python's ``re`` never sees a server's pattern."""
