"""What the moves of a plan copy, in bytes, as the leaders of its partitions tell when it is planned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import msgspec

from zkdash.broker import replica_sizes
from zkdash.broker.replica_sizes import Reason
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans import moves
from zkdash.cluster.plans.values import Copied, Plan
from zkdash.web.actions.forms import asked_offsets

Ask = Callable[..., Mapping[tuple[str, int], int | Reason]]
# Brokers that get a copy, by partition.
_Copies = Mapping[tuple[str, int], tuple[int, ...]]
_NOT_ASKED = Reason("brokers are not asked on this cluster (ask_brokers = false)")


def weighed(
    plans: Sequence[Plan], state: ClusterState, ask: Ask | None = replica_sizes.ask
) -> tuple[Plan, ...]:
    """The plans with what each copies, where it copies anything.

    `ask` is None where brokers may not be asked. It blocks for some seconds at most, once for all plans.
    """
    copies = [_copies(plan, state) for plan in plans]
    partitions = list(dict.fromkeys(key for each in copies for key in each))
    if not partitions:
        return tuple(plans)
    sizes: Mapping[tuple[str, int], int | Reason] = dict.fromkeys(partitions, _NOT_ASKED)
    if ask is not None:
        sizes = ask(
            asked_offsets.registered(state), lambda topic: asked_offsets.leaders(state, topic), partitions
        )
    return tuple(
        msgspec.structs.replace(
            plan, effect=msgspec.structs.replace(plan.effect, copied=_copied(each, sizes))
        )
        if each
        else plan
        for plan, each in zip(plans, copies, strict=True)
    )


def _copies(plan: Plan, state: ClusterState) -> _Copies:
    moved = moves.of(plan)
    before = moves.before(plan, moved, state)
    copies = {}
    for move in moved:
        key = (move.topic, move.partition)
        if new := tuple(broker for broker in move.replicas if broker not in before.get(key, move.replicas)):
            copies[key] = new
    return copies


def _copied(copies: _Copies, sizes: Mapping[tuple[str, int], int | Reason]) -> Copied:
    to: Counter[int] = Counter()
    unknown, why = 0, ""
    for key, brokers in copies.items():
        size = sizes[key]
        if isinstance(size, Reason):
            unknown += len(brokers)
            why = why or size.sentence
        else:
            to.update(dict.fromkeys(brokers, size))
    return Copied(dict(sorted(to.items())), unknown, why)
