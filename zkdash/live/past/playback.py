"""What a watcher would have shown: a snapshot of a moment, and the one that a later transaction makes of it.

Pure, and on the record's clock. What only brokers, servers and zkdash's own database told then is not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from zkdash.broker.samples import Samples
from zkdash.cluster import changes, checks, incidents
from zkdash.cluster.incidents.causes import causes
from zkdash.cluster.model.brokers.lags import Lags
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.reducer import advance
from zkdash.history.queries.neighbours import Instant
from zkdash.history.queries.steps import Step
from zkdash.live import departures
from zkdash.live.snapshot import Past, Snapshot
from zkdash.live.tree.znodes import mirrored
from zkdash.live.watching import first_seen, rebalancing
from zkdash.zk.connection.session import Phase, Session
from zkdash.znode import Batch, Znode

NOT_KNOWN: Final = "it is not known of the past: brokers tell of now alone"
# Checks look so often at what did not change, as a watcher does: enough for what must hold for a while.
_LOOK_MS: Final = 2_000
# Checks follow transactions that come closer together as a watcher follows those of a batch: at once.
_FOLLOW_S: Final = 1.0


def begin(
    cluster: str, address: str, znodes: Mapping[str, Znode], instant: Instant, thresholds: checks.Thresholds
) -> Snapshot:
    """The first load: the tree of a moment."""
    changed = mirrored(znodes)
    batch = Batch(changed, instant.zxid, whole=True)
    state, _ = advance.advance(ClusterState(), batch)
    now_ms = instant.time_ms
    snapshot = Snapshot(
        cluster=cluster,
        address=address,
        revision=1,
        state=state,
        session=Session(phase=Phase.LIVE, zxid=instant.zxid),
        as_of=now_ms / 1000,
        stale=False,
        observations=checks.Observations(thresholds=thresholds),
        first_seen=first_seen.look(first_seen.Sightings(), changed, state.problems, now_ms),
        restless=rebalancing.begin(state, now_ms),
        samples=Samples(otherwise=NOT_KNOWN),
        lags=Lags(otherwise=NOT_KNOWN),
    )
    snapshot = msgspec.structs.replace(snapshot, feed=snapshot.feed.loaded(instant.zxid))
    return _aged(snapshot, now_ms)


def after(before: Snapshot, step: Step) -> Snapshot:
    """The snapshot after one more transaction."""
    now_ms = max(step.time_ms, _ms(before))
    before = until(before, now_ms)
    changed = mirrored(step.changed)
    batch = Batch(changed, step.zxid)
    # A watcher does not read a parent again; here its Stat is known, as it is from scratch.
    state, touched = advance.advance(before.state, Batch({**changed, **mirrored(step.stats)}, step.zxid))
    feed, story, sighted = before.feed, before.incidents, first_seen.Sightings(before.first_seen)
    if news := changes.of_batch(before.state, state, batch, now_ms=now_ms):
        feed, story = feed.told(step.zxid, news), incidents.fold(story, incidents.in_order(news))
    if "problems" in touched.areas:
        sighted = first_seen.look(sighted, changed, state.problems, now_ms)
    snapshot = msgspec.structs.replace(
        before,
        state=state,
        observations=checks.put_off(before.observations, touched),
        session=msgspec.structs.replace(before.session, zxid=step.zxid),
        feed=feed,
        incidents=story,
        first_seen=sighted,
        restless=rebalancing.look(before.restless, before.state, state, touched.groups, now_ms),
        departed=departures.look(before.departed, before.state, state, now_ms),
    )
    return _aged(snapshot, now_ms)


def until(snapshot: Snapshot, time_ms: int) -> Snapshot:
    """The same at a later time, until which nothing changed."""
    if time_ms - _ms(snapshot) < _LOOK_MS:
        return snapshot
    return _aged(snapshot, time_ms)


def shown(snapshot: Snapshot, past: Past) -> Snapshot:
    """What pages of the moment show of a snapshot that is `judged` then."""
    return msgspec.structs.replace(
        snapshot,
        state=msgspec.structs.replace(snapshot.state, zxid=past.instant.zxid),
        as_of=past.instant.time_ms / 1000,
        past=past,
    )


def judged(snapshot: Snapshot) -> Snapshot:
    """The snapshot with what checks find, and the causes: not told of moments that nobody asks for."""
    now_ms = _ms(snapshot)
    observations = checks.observe(snapshot.observations, snapshot.state, now_ms / 1000)
    why = causes(snapshot.state, snapshot.incidents, observations.findings, now_ms)
    return msgspec.structs.replace(snapshot, observations=observations, causes=why)


def _aged(snapshot: Snapshot, now_ms: int) -> Snapshot:
    """The snapshot at a time, with what that makes of it."""
    observations = snapshot.observations
    if now_ms / 1000 - observations.at >= _FOLLOW_S:
        observations = checks.follow(observations, snapshot.state, now_ms / 1000)
    return msgspec.structs.replace(
        snapshot,
        as_of=now_ms / 1000,
        observations=observations,
        incidents=incidents.expire(snapshot.incidents, now_ms),
        restless=rebalancing.settle(snapshot.restless, now_ms),
    )


def _ms(snapshot: Snapshot) -> int:
    return round((snapshot.as_of or 0) * 1000)
