"""API and pages: register, browse, decide."""
