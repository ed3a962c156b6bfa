"""Values that prove a break: found by directed search, believed only after a validator agrees on both schemas."""
