"""From a finding to the form of the action that mends it, filled in with what caused it."""

from __future__ import annotations

import heapq
from typing import Final

from zkdash.cluster import checks
from zkdash.cluster.checks.offers import MOST, Offer
from zkdash.cluster.plans import registry
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import row_selection

# How long the values of a link may be together: servers and proxies take no longer addresses for granted.
_LONGEST: Final = 4000


def of(snapshot: Snapshot, check: str, key: PageKey) -> row_selection.ActionLink | None:
    """The way to the form; None where no action mends what the check finds, or none can be taken now."""
    declared = checks.BY_ID.get(check)
    if declared is None or not declared.deeds or not row_selection.offers(key):
        return None
    looked = snapshot.observations.looked.get(check)
    names = heapq.nsmallest(MOST, looked.held) if looked is not None else []
    offer = declared.offer(snapshot.state, names) if declared.offer else Offer(declared.deeds[0])
    if offer is None or registry.why_not(offer.kind, snapshot.state):
        return None
    return row_selection.action_links(key, (f"{registry.title(offer.kind)}…", offer.kind, _short(offer)))[0]


def _short(offer: Offer) -> list[tuple[str, str]]:
    """As many of the parameters, from the first on, as an address can hold."""
    shortened, length = [], 0
    for name, value in offer.given:
        length += len(name) + len(value)
        if length > _LONGEST:
            break
        shortened.append((name, value))
    return shortened
