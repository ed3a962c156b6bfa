"""What a witness is made to be once it is found: small, and with strings that look like what they stand for."""
