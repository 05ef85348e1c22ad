"""The plan that Kafka's own tool proposes (kafka.admin.ReassignPartitionsCommand, --generate).

It places each topic from scratch, with a start and a shift drawn by lot, as if it were new.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from zkdash.kafka.assignment import placement

Topics = Mapping[str, Mapping[int, tuple[int, ...]]]


def regenerate(
    topics: Topics,
    brokers: tuple[int, ...],
    racks: Mapping[int, str],
    draw: Callable[[str], tuple[int, int]],
) -> dict[str, dict[int, tuple[int, ...]]]:
    """Replicas by topic and partition. `brokers` is sorted; `racks` names all of them, or is empty.

    `draw` gives the start and the shift of a topic. The replication factor is that of the topic's first
    partition. Raises ValueError where the brokers are too few for it.
    """
    plan = {}
    for name, partitions in topics.items():
        start, shift = draw(name)
        wanted = {"partitions": len(partitions), "replication": len(partitions[min(partitions)])}
        if racks:
            placed = placement.place_in_racks(racks, **wanted, start=start, shift=shift)
        else:
            placed = placement.place(brokers, **wanted, start=start, shift=shift)
        plan[name] = dict(zip(sorted(partitions), placed.values(), strict=True))
    return plan
