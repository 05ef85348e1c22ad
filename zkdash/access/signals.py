"""What happens to users, groups and grants, told to who listens (the audit is kept in an outer room)."""

from django.dispatch import Signal

# Sent with `request`, `deed` ("added", "changed", "deleted"), `kind` (the model's name), `what` (its text)
# and `changes` (Django's change message: names of fields and of inline objects, no values).
administered = Signal()

# Sent with `request`, `name` (as it was typed or told) and `sentence`: somebody else vouches for a person, or
# should have, who may not come in.
refused = Signal()

# Sent with `request`, `name` and `limit` (of `[limits]`) by the first attempt at a password that was one too
# many.
limited = Signal()
