"""Checks of znodes as such, whatever they mean."""

from __future__ import annotations

from zkdash.cluster.blame import NOBODY, Cause, Causes
from zkdash.cluster.checks.check import About, Check, Sight, number
from zkdash.cluster.tone import Tone


def _problems(sight: Sight) -> Causes:
    counts = sight.state.counts
    if not counts.problems:
        return NOBODY
    return {"": Cause(counts.problems, tone=Tone.CRITICAL if counts.critical_problems else None)}


CHECKS: tuple[Check, ...] = (
    Check(
        id="D30",
        tone=Tone.WARNING,
        about=About.CLUSTER,
        causes=_problems,
        failing=lambda count, _: f"{number(count, 'znode does', 'znodes do')} not parse",
        passing="Every znode parses",
        computed="A znode's data is not what any release of Kafka writes there. Critical where it is the"
        " registration of a broker or a consumer, a topic, or a partition's state.",
        remedy="Look at who wrote them; brokers and consumers may stumble over them too.",
        page="problems",
    ),
)
