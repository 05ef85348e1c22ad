"""Where a group's offsets are kept in Kafka: the partition of __consumer_offsets, whose leader coordinates.

Source: kafka.server.OffsetManager.partitionFor (0.8.2), kafka.coordinator.group.GroupMetadataManager
.partitionFor (to 3.9), both `Utils.abs(group.hashCode) % partitions`, alike in all of them.
"""

from __future__ import annotations

OFFSETS_TOPIC = "__consumer_offsets"

_MODULUS = 1 << 32
_SIGN = 1 << 31


def partition_of(group: str, partitions: int) -> int:
    """The partition of __consumer_offsets that keeps a group, of so many (at least one)."""
    code = _hash_code(group)
    return 0 if code == -_SIGN else abs(code) % partitions


def _hash_code(text: str) -> int:
    """java.lang.String.hashCode: over UTF-16 code units, in 32 bits, signed."""
    units = text.encode("utf-16-be", "surrogatepass")
    code = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = (31 * code + (high << 8 | low)) % _MODULUS
    return code - _MODULUS if code >= _SIGN else code
