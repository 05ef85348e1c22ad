"""What counts as too long, and as too much."""

from __future__ import annotations

import msgspec

from zkdash.cluster.analysis import registrations


class Thresholds(msgspec.Struct, frozen=True):
    """Seconds, where nothing else is said. All but the named defaults of Kafka are proposals.

    `confirm` is between the two observations that every check needs. `no_controller` (D18) is Kafka's
    zookeeper.session.timeout.ms of 2.5 and later: as long may a dead controller's ephemeral stand, and none
    be elected. `unowned` (D40) is four rebalances of 2 s, the old consumer's defaults. `stateless` (D3) is
    how long a new partition may wait for its first leader. `imbalance_percent` (D12) is Kafka's
    leader.imbalance.per.broker.percentage, `skew` (D13) how many times the mean a broker may carry.
    `elections` (D20) is how many controllers may be elected in `elections_within`. `deletion` (D22) is how
    long a topic's deletion may take, `reassignment` (D24) how long nothing of a reassignment may move,
    `election` (D27) how long the controller may leave an election alone. `upgrade` (D32) is how long
    brokers may be of different versions. `backlog` and `backlog_age` (D36) are how many notifications may
    wait for the controller, and how long, `config_changes` (D37) is how long brokers keep a notification by
    default. `frozen` (D48) is how long no offset of a group with members may change, `abandoned` (D44) one
    without members. `token` (D62) is how
    long an expired token may stand. `large_percent` and `huge_percent` (D54) are shares of `jute_maxbuffer`
    bytes, ZooKeeper's default.
    """

    confirm: float = 2.0
    no_controller: float = 18.0
    unowned: float = 8.0
    stateless: float = 60.0
    imbalance_percent: float = registrations.MOST_SKEW_PERCENT
    skew: float = registrations.MOST_LOAD
    elections: int = 3
    elections_within: float = 3600.0
    deletion: float = 300.0
    reassignment: float = 600.0
    election: float = 60.0
    upgrade: float = 86_400.0
    backlog: int = 100
    backlog_age: float = 60.0
    config_changes: float = 900.0
    frozen: float = 900.0
    abandoned: float = 604_800.0
    token: float = 7200.0
    large_percent: float = 50.0
    huge_percent: float = 80.0
    jute_maxbuffer: int = 1_048_575
