"""What counts as too long, and as too much."""

from __future__ import annotations

import msgspec


class Thresholds(msgspec.Struct, frozen=True):
    """Seconds, where nothing else is said.

    `confirm` is between the two observations that every check needs. `no_controller` (D18) is Kafka's
    zookeeper.session.timeout.ms of 2.5 and later: as long may a dead controller's ephemeral stand, and none
    be elected. `unowned` (D40) is four rebalances of 2 s, the old consumer's defaults. `stateless` (D3) is
    how long a new partition may wait for its first leader. `imbalance_percent` (D12) is Kafka's
    leader.imbalance.per.broker.percentage, `skew` (D13) how many times the mean a broker may carry.
    """

    confirm: float = 2.0
    no_controller: float = 18.0
    unowned: float = 8.0
    stateless: float = 60.0
    imbalance_percent: float = 10.0
    skew: float = 1.5
