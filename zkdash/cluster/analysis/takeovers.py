"""One broker id that servers at different addresses register in turn, as far as this process watched (D64).

A server whose id is registered does not start (kafka.zk.KafkaZkClient.registerBroker: NodeExists). Once the
other's session expires it does, and the other, started again by its supervisor, waits for its turn.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import NamedTuple

from zkdash.cluster.model.state import Seen
from zkdash.kafka.values import Broker

_KEPT = 3  # places of a broker: there, elsewhere, and there again
_MOST = 10_000  # brokers that are gone and remembered


class Registration(NamedTuple):
    """`places` ("host:port", or endpoints) at which an id registered, first at the epoch second `at`.

    `czxid` is that of the last session's znode there, `gone` when it was first seen to be away, None where it
    is not.
    """

    czxid: int
    at: float
    places: tuple[str, ...]
    gone: float | None = None


Histories = Mapping[int, tuple[Registration, ...]]  # by broker id, oldest first; neighbours differ in places


def follow(histories: Histories, brokers: Mapping[int, Seen[Broker]], now: float, within: float) -> Histories:
    """Take in who is registered now; who is gone for longer than `within` seconds is forgotten."""
    away = {
        number: (*history[:-1], history[-1]._replace(gone=history[-1].gone or now))
        for number, history in histories.items()
        if number not in brokers
    }
    followed = {
        number: history
        for number, history in itertools.islice(away.items(), _MOST)
        if now - (history[-1].gone or now) <= within
    }
    for number, seen in brokers.items():
        history = histories.get(number, ())
        if isinstance(seen.value, Broker) and seen.znode is not None:
            made = Registration(seen.znode.czxid, seen.znode.ctime / 1000, _places(seen.value))
            history = _continued(history, made)
        if history:
            followed[number] = history
    return followed


def _continued(history: tuple[Registration, ...], made: Registration) -> tuple[Registration, ...]:
    """A history with a registration that may be the last one, the next at the same place, or another.

    One that the same session wrote anew, elsewhere, stands for what it was.
    """
    if history and history[-1].czxid == made.czxid and history[-1].places != made.places:
        history = history[:-1]
    if history and history[-1].places == made.places:
        return (*history[:-1], history[-1]._replace(czxid=made.czxid, gone=None))
    return (*history, made)[-_KEPT:]


def alternating(histories: Histories, now: float, within: float) -> Mapping[int, tuple[Registration, ...]]:
    """The brokers that went to another place and came back within so many seconds, up to so long ago.

    One that moved and stayed there did not, nor one that was started again where it was.
    """
    return {
        number: history
        for number, history in histories.items()
        if len(history) == _KEPT and _alternates(history, now, within)
    }


def _alternates(history: tuple[Registration, ...], now: float, within: float) -> bool:
    first, other, last = history
    is_back = first.places == last.places != other.places
    return is_back and last.at - other.at <= within and now - last.at <= within


def _places(broker: Broker) -> tuple[str, ...]:
    return tuple(sorted(broker.endpoints)) or (f"{broker.host}:{broker.port}",)
