"""Topic filters of old consumers: other people's regexes in Java's dialect, matched in linear time."""
