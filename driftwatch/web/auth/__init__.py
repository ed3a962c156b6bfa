"""Who is calling: API tokens, login links, sessions, CSRF, the audit log."""
