"""Versions, intervals, changes, changesets and the evidence around them: what is stored and never overwritten."""
