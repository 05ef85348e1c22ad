"""What an option's number means in units that people read: 14 d beside 1209600000."""

from __future__ import annotations

from typing import Final

from zkdash.kafka.documents.document import LONG_MAX
from zkdash.time_units import DAY_MS, HOUR_MS, MINUTE_MS

_TIMES: Final = ((DAY_MS, "d"), (HOUR_MS, "h"), (MINUTE_MS, "min"), (1_000, "s"))
_SIZES: Final = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_LONGEST: Final = len(str(LONG_MAX)) + 1


def words(name: str, value: str) -> str:
    """The value of an option in units, by what its name ends in; "" where the number itself says all.

    Times are ".ms" and sizes ".bytes". What is no number, or less than the smallest unit, has no words.
    """
    if len(value) > _LONGEST or not value.lstrip("-").isdecimal() or not value.isascii():
        return ""
    number = int(value)
    if number == LONG_MAX:
        return "never" if name.endswith(".ms") else "no limit"
    if number == -1 and name.startswith(("retention.", "log.retention.")):
        return "no limit"
    if name.endswith(".ms"):
        return _in(number, _TIMES)
    if name.endswith((".bytes", ".rate")):
        return _in(number, _SIZES) + ("/s" if name.endswith(".rate") and number >= _SIZES[-1][0] else "")
    return ""


def _in(number: int, units: tuple[tuple[int, str], ...]) -> str:
    """In the largest unit that is not larger, to two digits behind the point."""
    for size, unit in units:
        if number >= size:
            whole, rest = divmod(number, size)
            return f"{whole} {unit}" if not rest else f"about {number / size:.4g} {unit}"
    return ""
