"""White and black lists: which topics a wildcard consumer reads.

Source: kafka.consumer.TopicFilter and WildcardTopicCount (0.7 to 1.1). The consumers use the text that they
read back from ZooKeeper, so the doubled backslashes that 1.0 and 1.1 store are what they match with, and
what is matched here.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection
from typing import Any

import msgspec
import re2

from zkdash.kafka.consumers.wildcards import dialect
from zkdash.kafka.consumers.wildcards.dialect import CannotPreviewError
from zkdash.kafka.values import Pattern

INTERNAL_TOPICS = frozenset(["__consumer_offsets", "__transaction_state"])
ASSUMPTION = (
    "exclude.internal.topics=true: wildcards leave out __consumer_offsets and __transaction_state "
    "(0.8.2 and later; the option is the client's and not in ZooKeeper)"
)
# Characters of all topics times instructions of the regex. RE2's slowest answers took 1 ns for each.
WORK = 300_000_000

# What java.lang.String.trim strips.
_JAVA_SPACE = "".join(map(chr, range(0x21)))
_QUOTES = re.compile("""^["']+|["']+$""")
# Topic names of which both dialects say the same.
_PREVIEWED = re.compile("[ -~]+")


class Selection(msgspec.Struct, frozen=True):
    """The topics that a filter allows. `undetermined` are those whose names are not printable ASCII.

    `work` is what finding out took, in the unit of WORK.
    """

    topics: frozenset[str]
    undetermined: frozenset[str] = frozenset()
    work: int = 0


def normalise(regex: str) -> str:
    """What TopicFilter makes of a regex: no spaces or outer quotes, `,` for `|`."""
    return _QUOTES.sub("", regex.strip(_JAVA_SPACE).replace(",", "|").replace(" ", ""))


def select(pattern: Pattern, regex: str, topics: Collection[str], *, work: int = WORK) -> Selection:
    """The topics that a white or black list allows, internal ones left out.

    Takes at most `work`. Raises CannotPreviewError where RE2 would not match as Java does.
    """
    regex = normalise(regex)
    known, odd = frozenset(topics), frozenset[str]()
    matched = dialect.literals(regex)
    spent = 0
    if matched is None:
        odd = frozenset(topic for topic in known if not _PREVIEWED.fullmatch(topic))
        known -= odd
        matched, spent = _match(regex, known, work)
    allowed = known & matched if pattern is Pattern.WHITE_LIST else known - matched
    return Selection(allowed - INTERNAL_TOPICS, odd, spent)


@functools.lru_cache(maxsize=16)
def _match(regex: str, topics: frozenset[str], work: int) -> tuple[frozenset[str], int]:
    compiled = _compile(dialect.translate(regex))
    needed = compiled.programsize * sum(map(len, topics))
    if needed > work:
        raise CannotPreviewError(f"the regex is too large to be tried on {len(topics)} topics")
    return frozenset(topic for topic in topics if compiled.fullmatch(topic) is not None), needed


def _compile(translated: str) -> Any:
    """RE2's expression. What fits is given little memory: a cache that thrashes is its slowest engine."""
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    for options.max_mem in (1 << 16, 1 << 23):
        try:
            return re2.compile(translated, options)
        except re2.error as error:
            refusal = _sentence(error)
    raise CannotPreviewError(f"the engine of the preview refuses the regex: {refusal}")


def _sentence(error: Exception) -> str:
    told = error.args[0] if error.args else ""
    return told.decode(errors="replace") if isinstance(told, bytes) else str(told)
