"""Who hears what, once: policy, alerts and their life, the outbox, channels."""
