"""Signed events to any HTTP receiver: https://www.standardwebhooks.com."""
