"""(old schema, new schema, direction) -> Verdict with witness, findings, rule ids. Pure."""
