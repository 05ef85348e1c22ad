"""What checks have against one topic, group or broker: a part of its page."""

from __future__ import annotations

import msgspec

from zkdash.cluster.checks import CHECKS, About, begun
from zkdash.cluster.model.tone import Tone
from zkdash.live.parts import Block
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import links


class Claim(msgspec.Struct, frozen=True):
    """One check that this very thing fails. `since` is in epoch milliseconds."""

    check: str
    page: str
    tone: Tone
    what: str
    why: str
    since: int


def block(snapshot: Snapshot, about: About, name: str) -> Block:
    """The raised checks that name it as a cause, worst first."""
    found = tuple(sorted(_claims(snapshot, about, name), key=lambda claim: claim.tone.rank))
    return Block(id="held-against", template="checks/entity_findings.html", values=found)


def _claims(snapshot: Snapshot, about: About, name: str) -> list[Claim]:
    found = []
    for check in CHECKS:
        looked = snapshot.observations.looked.get(check.id) if check.about is about else None
        if looked is None or not looked.causes or name not in looked.held:
            continue
        cause = looked.causes[name]
        found.append(
            Claim(
                check.id,
                links.check(snapshot.cluster, check.id),
                cause.tone or check.tone,
                check.failing(cause.count, 1),
                cause.why,
                int(begun(looked, name, cause) * 1000),
            )
        )
    return found
