"""How each kind of intent is planned."""
