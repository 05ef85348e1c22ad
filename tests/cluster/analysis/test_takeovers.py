"""Which broker ids were registered from two addresses in turn."""

from __future__ import annotations

import pytest

from tests.cluster import small
from zkdash.cluster.analysis import takeovers
from zkdash.cluster.analysis.takeovers import Histories
from zkdash.cluster.model.state import Seen
from zkdash.kafka.values import Broker, Layout
from zkdash.znode import Stat, Znode

WITHIN = 600.0
START = 1_000_000.0

# A host that registers at so many seconds from the start, "" for nobody's being registered then.
Step = tuple[float, str]


def brokers(number: int, host: str, at: float) -> dict[int, Seen[Broker]]:
    if not host:
        return {}
    stat = Stat(int(at), int(at), int((START + at) * 1000), 0, 0, 0, 0, 0x100, 0, 0, 1)
    return {number: Seen(Broker(number, Layout.V08, host, 9092, 4), Znode.of(b"", stat))}


def followed(*steps: Step) -> Histories:
    histories: Histories = {}
    for at, host in steps:
        histories = takeovers.follow(histories, brokers(1, host, at), START + at, WITHIN)
    return histories


@pytest.mark.parametrize(
    ("steps", "is_alternating"),
    [
        ([(0, "a"), (20, "b"), (40, "a")], True),
        # away in between, as a session expires before the other registers
        ([(-90_000, "a"), (0, ""), (5, "b"), (60, ""), (65, "a")], True),
        # started again in between where it is
        ([(0, "a"), (20, "b"), (30, "b"), (40, "a"), (50, "a")], True),
        # moved elsewhere, once, and started again there
        ([(0, "a"), (20, "b")], False),
        ([(0, "a"), (20, ""), (25, "b"), (45, ""), (50, "b"), (60, "b")], False),
        # started again and again where it is
        ([(0, "a"), (20, "a"), (40, "a"), (60, "a")], False),
        # moved on from host to host, as pods do that have another address each time
        ([(0, "a"), (20, "b"), (40, "c"), (60, "d")], False),
        # moved, and back after an hour
        ([(0, "a"), (20, "b"), (3_620, "a")], False),
        # gone for longer than is remembered
        ([(0, "a"), (20, ""), (700, ""), (710, "b"), (720, "a")], False),
    ],
)
def test_an_id_alternates_that_went_elsewhere_and_came_back_soon(
    steps: list[Step], is_alternating: bool
) -> None:
    now = START + steps[-1][0] + 1
    assert (1 in takeovers.alternating(followed(*steps), now, WITHIN)) is is_alternating


def test_it_is_over_once_nobody_took_the_id_for_as_long() -> None:
    histories = followed((0, "a"), (20, "b"), (40, "a"))
    assert takeovers.alternating(histories, START + 40 + WITHIN, WITHIN)
    assert not takeovers.alternating(histories, START + 41 + WITHIN, WITHIN)


def test_a_registration_that_the_same_session_writes_anew_is_no_other_server() -> None:
    """As a broker does whose advertised.listeners are changed while it runs (KIP-226)."""
    histories: Histories = {}
    for host in ("a", "b", "a", "b"):
        histories = takeovers.follow(histories, brokers(1, host, 5), START + 5, WITHIN)
    assert not takeovers.alternating(histories, START + 6, WITHIN)
    assert [entry.places for entry in histories[1]] == [("b:9092",)]


def test_a_registration_that_does_not_parse_leaves_what_is_remembered() -> None:
    histories = followed((0, "a"), (20, "b"))
    torn = small.built({"/brokers/ids/1": small.znode("{", owner=1)}).brokers
    assert takeovers.follow(histories, torn, START + 30, WITHIN) == histories
