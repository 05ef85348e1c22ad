"""What was refused since the process began, by the limit that stood in the way: counted, and told in the log.

A line for a limit at most once a minute, so that whoever is refused again and again fills no disk.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping

from zkdash.configuration.limits import OF_ADDRESS, OF_PERSON

log = logging.getLogger(__name__)

LINE_EVERY_S = 60.0
# Not limits, but refused at the door too: what is no HTTP, and sockets that there are not.
MALFORMED = "malformed"
NO_SUCH_SOCKET = "no_such_socket"


class Refusals:
    """`counts` by limit. Told on the event loop only, read by anybody."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._counts: Counter[str] = Counter()
        self._told: dict[str, tuple[float, int]] = {}  # by limit: when its last line was, and its count then

    @property
    def counts(self) -> Mapping[str, int]:
        return dict(self._counts)

    def tell(self, limit: str, address: str | None) -> None:
        """Something from an address ran into a limit; None where only its proxy is known."""
        self._counts[limit] += 1
        now, count = self._clock(), self._counts[limit]
        last, before = self._told.get(limit, (None, 0))
        if last is None or now - last >= LINE_EVERY_S:
            self._told[limit] = now, count
            log.warning(
                "%s ran into the limit %s, refused %d× since the last such line",
                address or "A proxy",
                limit,
                count - before,
            )


REFUSALS = Refusals()


def status(limit: str) -> int:
    """The HTTP status: 429 where one client takes too much, 503 where all together do."""
    return 429 if limit.endswith((OF_ADDRESS, OF_PERSON)) else 503


def sentence(limit: str) -> str:
    """Why a place was refused, as a sentence for the client."""
    kind = limit.removesuffix(OF_ADDRESS).removesuffix(OF_PERSON).replace("_", " ")
    whose = {OF_ADDRESS: " from this address", OF_PERSON: " by you"}
    of = next((words for suffix, words in whose.items() if limit.endswith(suffix)), "")
    return f"Too many {kind}{of} at once. Come back later, or with fewer."
