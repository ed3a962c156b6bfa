"""Where deliveries go. A channel kind is one folder: how it renders a message, sends it, and reads the answer."""
