"""Slack: incoming webhooks. Message -> Block Kit, one POST, Slack's answer in the outbox's words."""
