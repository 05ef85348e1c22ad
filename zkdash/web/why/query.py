"""What is asked of the page: of which thing, and before which place of its story."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

import msgspec

from zkdash.history.queries.timeline import Place, Search
from zkdash.web.frame import subjects
from zkdash.web.frame.parameters import Parameters, of_canonical
from zkdash.web.frame.subjects import Subject

KINDS: Final = ("topic", "group", "broker")
_LONGEST: Final = 300
_PARAMETERS: Final = Parameters(frozenset({*KINDS, "partition", "before"}), _LONGEST, most=20)


class WhyQuery(msgspec.Struct, frozen=True):
    """A canonical query; `subject` is None where nothing is named."""

    subject: Subject | None = None
    before: Place | None = None

    @property
    def search(self) -> Search:
        """The changes of it."""
        subject = self.subject
        if subject is None:
            return Search()
        return Search(
            topic=subject.name if subject.kind == "topic" else "",
            partition=subject.partition,
            group=subject.name if subject.kind == "group" else "",
            broker=int(subject.name) if subject.kind == "broker" else None,
            before=self.before,
        )


def canonical(raw: str) -> tuple[str, tuple[str, ...]]:
    """The query with what is not understood left out, and a sentence for each of these."""
    given = _PARAMETERS.read(raw)
    subject = subjects.read(given, KINDS)
    pairs = list(subject.pairs) if subject is not None else []
    if before := given.last("before"):
        if Place.read(before) is None:
            given.notes.append(f"“{before}” is no place in the story; this is its newest part.")
        else:
            pairs.append(("before", before))
    return urlencode(pairs, errors="surrogatepass"), tuple(given.notes)


def understood(query: str) -> WhyQuery:
    """A canonical query, understood."""
    given = of_canonical(query)
    return WhyQuery(subjects.of_pairs(given), Place.read(given.get("before", "")))
