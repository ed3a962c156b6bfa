"""MCP as servers really speak it: eras, sessions, pages. Returns bytes and facts; parses no tool."""
