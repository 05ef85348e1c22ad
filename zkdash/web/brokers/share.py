"""What a broker, or those that would stop with it, hold of each topic: a bar a topic, the most first."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final

import msgspec
from django.utils.safestring import SafeString

from zkdash.cluster.analysis import shares
from zkdash.cluster.analysis.shares import Share
from zkdash.cluster.model.state import ClusterState
from zkdash.live.parts import Block
from zkdash.live.snapshot import Snapshot
from zkdash.web.drawing import bars
from zkdash.web.frame import cells, links

PART: Final = "share"
MOST: Final = 12


class Bar(msgspec.Struct, frozen=True):
    """One topic; `most` is the largest share of any, at which bars end."""

    share: Share
    href: str
    most: int

    @property
    def told(self) -> str:
        share = self.share
        out = f", {cells.grouped(share.out)} out of sync" if share.out else ""
        return (
            f"{cells.grouped(share.replicas)} of {cells.grouped(share.of)} replicas,"
            f" {cells.grouped(share.lead)} lead{out}"
        )

    @property
    def svg(self) -> SafeString:
        label = f"{self.share.topic}: {self.told}"
        return bars.bar(self.share.replicas, self.most, label=label, out=self.share.out, kind="replicas")


class Shares(msgspec.Struct, frozen=True):
    """The topics with the largest shares; of the others how many they are, and how many replicas."""

    bars: tuple[Bar, ...] = ()
    more: int = 0
    rest: int = 0


def block(snapshot: Snapshot, brokers: AbstractSet[int]) -> Block:
    """The part; empty where the brokers hold no replica."""
    values = _of(snapshot.cluster, snapshot.state, brokers)
    return Block(id=PART, template="brokers/share.html", values=values)


def _of(cluster: str, state: ClusterState, brokers: AbstractSet[int]) -> Shares:
    topic_shares = shares.by_topic(state, brokers)
    shown, others = topic_shares[:MOST], topic_shares[MOST:]
    most = max((share.replicas for share in shown), default=0)
    return Shares(
        tuple(Bar(share, links.topic(cluster, share.topic), most) for share in shown),
        len(others),
        sum(share.replicas for share in others),
    )
