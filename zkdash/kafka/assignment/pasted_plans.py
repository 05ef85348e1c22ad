"""A reassignment as operators paste it: the JSON of kafka-reassign-partitions, read strictly.

What a controller would drop, misread or get stuck on is refused here, with the entry at fault.
"""

from __future__ import annotations

from typing import Any, Final

from zkdash.kafka import editing
from zkdash.kafka.documents.document import INT_MAX, Fields, few
from zkdash.kafka.values import Move

MOST_BYTES: Final = 5_000_000
_FOLDERS = (
    '"log_dirs" names folders: only the brokers\' own API knows them, a reassignment in ZooKeeper '
    'carries none (take the list away, or write "any")'
)


def read(data: bytes) -> tuple[tuple[Move, ...], tuple[str, ...]]:
    """The moves, and a sentence for each of the first things wrong; then nothing of it may be used."""
    if len(data) > MOST_BYTES:
        return (), (f"The plan holds {len(data)} bytes; {MOST_BYTES} are the most.",)
    try:
        document = editing.read(data.removeprefix(b"\xef\xbb\xbf"), (1,))
    except editing.Uneditable as fault:
        return (), (f"The plan cannot be read: {fault}.",)
    fields = Fields(document)
    entries = fields.items("partitions")
    if entries is None:
        return (), (f"The plan has no list of partitions: {fields.reasons[0]}.",)
    if not entries:
        return (), ("The plan's list of partitions is empty, which jams every controller.",)
    return _entries(entries)


def _entries(entries: list[Any]) -> tuple[tuple[Move, ...], tuple[str, ...]]:
    moves, wrong, seen = [], [], set()
    for index, entry in enumerate(entries):
        move, fault = _entry(entry)
        if move is not None and (move.topic, move.partition) in seen:
            fault = f"{move.topic}-{move.partition} is named twice"
        if fault or move is None:
            wrong.append(f"Entry {index} of the plan: {fault}.")
            continue
        seen.add((move.topic, move.partition))
        moves.append(move)
    return (() if wrong else tuple(moves)), tuple(few(wrong))


def _entry(entry: Any) -> tuple[Move | None, str]:
    if not isinstance(entry, dict):
        return None, "it is no object"
    fields = Fields(entry)
    topic, partition, replicas = fields.text("topic"), fields.integer("partition"), fields.items("replicas")
    if topic is None or partition is None or replicas is None:
        return None, fields.reasons[0]
    places = entry.get("log_dirs")
    anywhere = places is None or (isinstance(places, list) and all(place == "any" for place in places))
    faults = [
        (not replicas, '"replicas" is an empty list'),
        (
            not all(type(broker) is int and 0 <= broker <= INT_MAX for broker in replicas),
            f'"replicas" holds something else than broker ids from 0 to {INT_MAX}',
        ),
        (len(set(map(str, replicas))) < len(replicas), '"replicas" names a broker twice'),
        (not anywhere, _FOLDERS),
    ]
    fault = next((words for wrong, words in faults if wrong), "")
    return (None, fault) if fault else (Move(topic, partition, tuple(replicas)), "")
