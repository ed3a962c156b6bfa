"""driftwatch from a terminal: run it, ask it, or compare two contracts without it."""
