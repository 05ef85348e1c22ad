"""What the configurations of old consumers say, and of the groups that they form."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from zkdash.kafka.assignment.rules import Rule
from zkdash.kafka.values import Layout, Pattern


class ConsumerConfig(msgspec.Struct, frozen=True):
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


class GroupConfig(msgspec.Struct, frozen=True):
    """A consumer group: one entry of `members` per member, the number of its threads for each topic.

    `topics` are its static subscription; `white_list` or `black_list` is a regular expression instead. A
    group that is `abandoned` commits once and leaves. So do all members of a `periodic` one, which come back
    for a while now and then. With `redeploys` the last member comes and goes; with `hangs` it hangs now and
    then for longer than its session lives. With `lags` the group falls behind the logs' ends and catches up,
    again and again.
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
    periodic: bool = False
    redeploys: bool = False
    hangs: bool = False
    lags: bool = False

    def consumer(self, number: int) -> ConsumerConfig:
        """The configuration of member `number`, on a host of its own."""
        regex = self.white_list or self.black_list
        pattern = Pattern.WHITE_LIST if self.white_list else Pattern.BLACK_LIST
        return ConsumerConfig(
            self.name,
            dict.fromkeys(self.topics if regex is None else (regex,), self.members[number]),
            pattern=Pattern.STATIC if regex is None else pattern,
            rule=self.rule,
            host=f"{self.name}-{number}.{self.domain}",
            commits=self.commits,
        )
