"""Old consumers: their ids, subscriptions and wildcards, and where their offsets are kept."""
