"""Patterns as ECMA-262 reads them, as languages that can be intersected, complemented and searched for a word."""
