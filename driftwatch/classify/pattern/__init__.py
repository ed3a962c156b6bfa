"""Patterns as ECMA-262 reads them: their syntax, and what they match. Python's ``re`` never sees one of a server."""
