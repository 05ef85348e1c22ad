"""What a simulated cluster is made of, before it exists."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from zkdash.kafka.assignment.rules import Rule
from zkdash.kafka.values import Layout, Pattern


class BrokerSpec(msgspec.Struct, frozen=True):
    """What a broker's own configuration says."""

    id: int
    host: str
    port: int
    rack: str


class TopicSpec(msgspec.Struct, frozen=True):
    """A topic to be made; `config` are its overrides, `per_s` the messages that it takes in a second."""

    name: str
    partitions: int
    replication: int
    config: Mapping[str, str] = {}
    per_s: float = 10.0


class BrokerSpec07(msgspec.Struct, frozen=True):
    """What the configuration of a 0.7 broker says; `topics` are its partitions by topic."""

    id: int
    host: str
    port: int
    topics: Mapping[str, int]


class ConsumerSpec(msgspec.Struct, frozen=True):
    """What the configuration of one old consumer says.

    `subscription` is the number of threads by topic, for a wildcard by its one regular expression. `rule`
    tells the release too: RANGE_07 speaks the layout of 0.7, all others that of 0.8 and later.
    `consumer_id` is the option consumer.id. Without `commits` it keeps its offsets in Kafka
    (offsets.storage=kafka), so that none is in ZooKeeper.
    """

    group: str
    subscription: Mapping[str, int]
    pattern: Pattern = Pattern.STATIC
    rule: Rule = Rule.RANGE
    host: str = "app.shop.internal"
    consumer_id: str | None = None
    commits: bool = True

    @property
    def layout(self) -> Layout:
        return Layout.V07 if self.rule is Rule.RANGE_07 else Layout.V08

    @property
    def directory(self) -> bytes | None:
        """What it writes into directories below /consumers: null to 0.11 (ZkClient), nothing from 1.0."""
        return None if self.rule in (Rule.RANGE_07, Rule.ROUND_ROBIN_ALIKE) else b""


class GroupSpec(msgspec.Struct, frozen=True):
    """A consumer group: one entry of `members` per member, the number of its threads for each topic.

    `topics` are its static subscription; `white_list` or `black_list` is a regular expression instead. A
    group that is `abandoned` commits once and leaves. So do all members of a `nightly` one, which come back
    for a while now and then. The last member of a `restless` group comes and goes;
    the last member of a `drowsy` one hangs now and then for longer than its session lives. A `slow` group
    falls behind the logs' ends and catches up, again and again.
    """

    name: str
    members: tuple[int, ...]
    topics: tuple[str, ...] = ()
    white_list: str | None = None
    black_list: str | None = None
    rule: Rule = Rule.RANGE
    domain: str = "shop.internal"
    commits: bool = True
    abandoned: bool = False
    nightly: bool = False
    restless: bool = False
    drowsy: bool = False
    slow: bool = False

    def consumer(self, number: int) -> ConsumerSpec:
        """The configuration of member `number`, on a host of its own."""
        regex = self.white_list or self.black_list
        pattern = Pattern.WHITE_LIST if self.white_list else Pattern.BLACK_LIST
        return ConsumerSpec(
            self.name,
            dict.fromkeys(self.topics if regex is None else (regex,), self.members[number]),
            pattern=Pattern.STATIC if regex is None else pattern,
            rule=self.rule,
            host=f"{self.name}-{number}.{self.domain}",
            commits=self.commits,
        )


class Catalogue(msgspec.Struct, frozen=True):
    """A whole cluster."""

    brokers: tuple[BrokerSpec, ...]
    topics: tuple[TopicSpec, ...]
    groups: tuple[GroupSpec, ...]


class Catalogue07(msgspec.Struct, frozen=True):
    """A whole cluster of Kafka 0.7, whose topics are its brokers'."""

    brokers: tuple[BrokerSpec07, ...]
    groups: tuple[GroupSpec, ...]
