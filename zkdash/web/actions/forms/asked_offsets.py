"""Where logs start, end, or stood at a moment, as their brokers tell: offsets to be written, or why not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from zkdash.broker import offsets_at
from zkdash.broker.offsets_at import EARLIEST, LATEST, Absent, At, Found
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans.intents import OffsetAt
from zkdash.kafka import paths
from zkdash.kafka.documents.document import few
from zkdash.kafka.values import Broker, PartitionState
from zkdash.live.snapshot import Snapshot

Ask = Callable[..., Mapping[tuple[str, int], Found]]
_NOT_ASKED = (
    "Only brokers know where a log starts and ends, and they are not asked on this cluster (ask_brokers = "
    "false): give offsets as numbers or as a file."
)


class Answer(msgspec.Struct, frozen=True):
    """The offsets; none where there are `refusals`. `remarks` tell what is not quite as it was asked for."""

    offsets: tuple[OffsetAt, ...] = ()
    refusals: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def ask(
    snapshot: Snapshot,
    places: Sequence[tuple[str, str]],
    *,
    latest: bool,
    at_ms: int | None,
    ask: Ask | None = offsets_at.ask,
) -> Answer:
    """The offset of each (topic, partition): at a moment where one is given, else the earliest or latest.

    `ask` is None where brokers may not be asked. It blocks for some seconds at most.
    """
    if ask is None:
        return Answer(refusals=(_NOT_ASKED,))
    if strange := [f"{topic} {part}" for topic, part in places if not paths.is_id(part)]:
        return Answer(
            refusals=(f"Kafka 0.7 does not tell the offsets of {strange[0]}: give them as numbers.",)
        )
    wanted = [(topic, int(part)) for topic, part in places]
    at = at_ms if at_ms is not None else LATEST if latest else EARLIEST
    answers = dict(_ask(ask, snapshot.state, wanted, at))
    absent = {place: answer for place, answer in answers.items() if isinstance(answer, Absent)}
    for nearest in sorted({answer.nearest for answer in absent.values()}):
        answers |= _ask(
            ask, snapshot.state, [place for place, a in absent.items() if a.nearest == nearest], nearest
        )
    refusals = [
        f"{topic}-{number}: {getattr(answer, 'sentence', 'nobody tells')}."
        for (topic, number), answer in answers.items()
        if not isinstance(answer, At)
    ]
    remarks = tuple(
        OffsetAt(topic, str(number), answer.offset)
        for (topic, number), answer in sorted(answers.items(), key=lambda item: item[0])
        if isinstance(answer, At)
    )
    return Answer(() if refusals else remarks, tuple(few(refusals)), tuple(_remarks(answers, absent)))


def _ask(
    ask: Ask, state: ClusterState, wanted: Sequence[tuple[str, int]], at: int
) -> Mapping[tuple[str, int], Found]:
    return ask(registered(state), lambda topic: leaders(state, topic), wanted, at)


def registered(state: ClusterState) -> dict[int, Broker]:
    """The brokers that may be asked, by id."""
    return {number: seen.value for number, seen in state.brokers.items() if isinstance(seen.value, Broker)}


def leaders(state: ClusterState, topic: str) -> Mapping[int, int | None] | None:
    """Who leads each partition of a topic, None where there is no such topic."""
    topic_state = state.topics.get(topic)
    if topic_state is None:
        return None
    return {
        partition.id: partition.state.leader if isinstance(partition.state, PartitionState) else None
        for partition in topic_state.partitions
    }


def _remarks(answers: Mapping[Any, Found], absent: Mapping[Any, Absent]) -> list[str]:
    remarks = []
    if absent:
        first = next(iter(absent.values()))
        remarks.append(f"Of {len(absent)} partitions the nearest end is taken: {first.sentence}.")
    rough = sum(isinstance(answer, At) and not answer.is_exact for answer in answers.values())
    if rough:
        remarks.append(
            f"Of {rough} partitions only the time of whole segments is known (before Kafka 0.10.1): earlier "
            "messages follow."
        )
    return remarks
