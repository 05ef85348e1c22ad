"""From a znode to a value by the layouts' parsers, with the problems noted on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from zkdash.cluster.model.known import Known, Read
from zkdash.cluster.reducer.arrivals import Arrival
from zkdash.cluster.reducer.problems import Ledger
from zkdash.kafka import paths, znode_kinds
from zkdash.kafka.layouts import partitions
from zkdash.kafka.values import PartitionState, Unparsable
from zkdash.kafka.znode_kinds import Kind, Place
from zkdash.znode import STAT_SIZE, Unreadable, Znode

V = TypeVar("V")

# Check D30: a child that is no number where an id belongs is an id too.
_CRITICAL = {row.kind for row in znode_kinds.ZNODE_KINDS if row.critical} | {Kind.MISNAMED}


class Reader:
    """Reads the znodes of one batch and keeps the ledger of problems."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def value(
        self, arrival: Arrival, parse: Callable[[bytes | None], tuple[V | Unparsable, tuple[str, ...]]]
    ) -> V | Unparsable | Unreadable | None:
        """What the znode says now: None where it is gone. What may not be read is no problem of its own."""
        read = arrival[4]
        if not isinstance(read, Znode):
            self._ledger.note(arrival.path, read, (), critical=False)
            return read
        value, reasons = parse(read.data)
        if reasons or self._ledger.holds_any:
            self._ledger.note(arrival.path, read, reasons, critical=arrival.kind in _CRITICAL)
        return value

    def states(self, topic: str, arrived: Mapping[int, Read]) -> dict[int, Known[PartitionState]]:
        """What the states of a topic's partitions say now, as `value`: a first load reads 200 000 of them."""
        ledger, parse = self._ledger, partitions.parse_state
        critical = Kind.STATE in _CRITICAL
        states: dict[int, Known[PartitionState]] = {}
        for number, read in arrived.items():
            if read.__class__ is not Znode:
                ledger.note(paths.state(topic, number), read, (), critical=False)
                states[number] = read  # type: ignore[assignment]
                continue
            states[number], reasons = parse(read[4:-STAT_SIZE] or read.data)
            if reasons or ledger.holds_any:
                ledger.note(paths.state(topic, number), read, reasons, critical=critical)
        return states

    def misnamed(self, arrival: Arrival) -> None:
        """A child whose name should be a number: its name is the problem, whatever it holds."""
        place = Place(Kind.MISNAMED, arrival.part, arrival.key)
        _, reasons = znode_kinds.parse(place, None)
        gone = arrival.read is None
        self._ledger.note(arrival.path, arrival.read, () if gone else reasons, critical=True)
