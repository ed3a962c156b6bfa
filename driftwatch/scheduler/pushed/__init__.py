"""Servers that driftwatch cannot reach: somebody who can hands in what a poll would have seen, and what was heard."""
