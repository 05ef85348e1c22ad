"""Takes the samples of a cluster's numbers: a few sums that are kept anyway, whatever the cluster's size."""

from __future__ import annotations

from collections import deque

from zkdash.cluster.model.state import ClusterState
from zkdash.formats.ensemble.values import Look
from zkdash.live.recent_numbers import EVERY_S, MOST, Numbers, Recent
from zkdash.zk.connection.session import Phase, Session

_MINUTE = 60 // EVERY_S
_EPOCH_BITS = 32  # a zxid counts transactions in its lower half, from 0 with each leader of the ensemble


# What was told longer ago than this (seconds) is not so now.
_OLD_S = 120
_NOT_ASKED = Look()


class RecentNumbers:
    """The samples of one cluster. One thread only."""

    def __init__(self) -> None:
        self._slot: int | None = None
        self._leader_changes = 0
        self._by_slot: deque[int] = deque(maxlen=_MINUTE)
        self._heard: tuple[int, float] | None = None  # a zxid and when it was the last one
        self._recent: Recent = ()

    def leaders_changed(self, count: int) -> None:
        """So many partitions got another leader, or lost theirs."""
        self._leader_changes += count

    def look(
        self, state: ClusterState, session: Session, lag: int | None, now: float, ensemble: Look = _NOT_ASKED
    ) -> Recent:
        """The samples, with another one where `EVERY_S` have passed: else the very same object.

        The first comes when there is an interval to tell of: counting begins with the first load.
        """
        slot = int(now) // EVERY_S
        if state.loaded and slot != self._slot:
            is_first, self._slot = self._slot is None, slot
            sample = self._sample(state, session, lag, now, _latencies(ensemble, now))
            if not is_first:
                self._recent = (*self._recent, sample)[-MOST:]
        return self._recent

    def _sample(
        self,
        state: ClusterState,
        session: Session,
        lag: int | None,
        now: float,
        latencies: tuple[tuple[str, float], ...],
    ) -> Numbers:
        """The sample of now; of a cluster that is not followed nothing is known."""
        transactions = self._transactions(session, now)
        self._by_slot.append(self._leader_changes)
        self._leader_changes = 0
        if session.phase is not Phase.LIVE:
            return Numbers(int(now), latencies=latencies)
        counts = state.counts
        return Numbers(
            at=int(now),
            partitions=counts.partitions,
            under_replicated=counts.under_replicated,
            offline=counts.offline,
            lag=lag,
            leader_changes=sum(self._by_slot),
            transactions=transactions,
            latencies=latencies,
        )

    def _transactions(self, session: Session, now: float) -> float | None:
        """How many a second; None over a cut, and where another leader of the ensemble counts anew."""
        before = self._heard
        self._heard = (session.zxid, now) if session.phase is Phase.LIVE else None
        if before is None or self._heard is None or now <= before[1]:
            return None
        if session.zxid < before[0] or session.zxid >> _EPOCH_BITS != before[0] >> _EPOCH_BITS:
            return None
        return (session.zxid - before[0]) / (now - before[1])


def _latencies(ensemble: Look, now: float) -> tuple[tuple[str, float], ...]:
    if ensemble.at is None or now - ensemble.at > _OLD_S:
        return ()
    latencies = ((server.address, server.told.latency_avg) for server in ensemble.servers)
    return tuple((address, float(latency)) for address, latency in latencies if latency is not None)
