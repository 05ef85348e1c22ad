"""Offsets in the format of Kafka's own tools (kafka.tools.ExportZkOffsets and ImportZkOffsets).

One line each: /consumers/<group>/offsets/<topic>/<partition>:<offset>.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from zkdash.kafka import paths
from zkdash.kafka.documents.document import LONG_MAX, few, quote

# Group, topic and partition ("0", or 0.7's "1-0").
Place = tuple[str, str, str]
_LINE = re.compile(r"/consumers/([^/]+)/offsets/([^/]+)/([0-9]+(?:-[0-9]+)?):([0-9]{1,19})")


def read(text: str) -> tuple[dict[Place, int], tuple[str, ...]]:
    """The offsets of a file, and a sentence for each of the first lines that are none."""
    offsets: dict[Place, int] = {}
    wrong = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        found = _LINE.fullmatch(line.strip())
        if found and int(found[4]) <= LONG_MAX:
            place = (found[1], found[2], found[3])
            if place in offsets:
                wrong.append(f"Line {number} names {found[2]} {found[3]} a second time.")
            offsets[place] = int(found[4])
        elif line.strip():
            wrong.append(
                f"Line {number} is not /consumers/<group>/offsets/…:<offset>: {quote(line.strip())}."
            )
    return offsets, tuple(few(wrong))


def write(offsets: Iterable[tuple[Place, int]]) -> str:
    """The file of these offsets, in their order."""
    return "".join(f"{paths.offset(*place)}:{value}\n" for place, value in offsets)
