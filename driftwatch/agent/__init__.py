"""Beside a server that driftwatch cannot reach: speaks to it, listens to it, and pushes what it saw.

``driftwatch agent`` runs it. It has no database; driftwatch decides what a snapshot means.
"""
