"""Bytes become a Snapshot: canonical form, digests, conformance findings, noise classes. Pure."""
