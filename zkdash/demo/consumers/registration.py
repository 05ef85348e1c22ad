"""What old consumers write at /consumers/G/ids/<consumer id>, byte for byte. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from zkdash.kafka.payloads import editing
from zkdash.kafka.values import Pattern


def encode(subscription: Mapping[str, int], *, pattern: Pattern, timestamp_ms: int) -> bytes:
    """The JSON of 0.8 to 1.1."""
    return editing.write(
        {
            "version": 1,
            "subscription": dict(subscription),
            "pattern": pattern.value,
            "timestamp": str(timestamp_ms),
        }
    )


def encode_07(subscription: Mapping[str, int], *, pattern: Pattern) -> bytes:
    """0.7: topics and threads, or `*threads*regex`, `!threads!regex`."""
    if pattern is Pattern.STATIC:
        topics = ",".join(f'"{topic}": {threads}' for topic, threads in subscription.items())
        return f"{{ {topics} }}".encode()
    mark = "*" if pattern is Pattern.WHITE_LIST else "!"
    ((regex, threads),) = subscription.items()
    return f"{mark}{threads}{mark}{regex}".encode()
