"""(window, coverage, notifications, restart evidence) -> announced | silent | unknown | pending. Pure."""
