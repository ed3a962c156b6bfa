"""Server-rendered pages: complete without script, strict about what they load."""
