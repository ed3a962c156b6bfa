"""The listener role: which process holds which change streams, and what it heard on them."""
