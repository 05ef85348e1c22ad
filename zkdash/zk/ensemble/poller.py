"""What is asked of one cluster's ensemble beside the mirror: slowly, on threads that nobody waits for."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Final

from zkdash.formats.ensemble.values import Footprint, Look
from zkdash.zk.config import ClusterConfig
from zkdash.zk.ensemble import tree, turns
from zkdash.zk.ensemble.round import Round
from zkdash.zk.reader import acls
from zkdash.zk.wire.jute import MalformedError
from zkdash.zk.wire.side_requests import Carried, SideRequests

# Between two rounds while somebody looks, and else; and how long a look lasts.
OFTEN_S: Final = 10.0
SELDOM_S: Final = 30.0
LEASE_S: Final = 30.0
# ACLs and quotas.
SLOW_S: Final = 60.0
# After a turn in which ZooKeeper did not answer.
_AGAIN_S = 2.0

log = logging.getLogger(__name__)


class Poller:
    """Asks the servers what they tell of themselves, and reads the ACLs of the znodes `secured`.

    `start` once, `stop` once. `look` and `acls` are one pointer each, to what was found last.
    """

    def __init__(
        self,
        config: ClusterConfig,
        aside: SideRequests,
        *,
        secured: Sequence[str],
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._config, self._aside, self._secured = config, aside, secured
        self._clock, self._wall = clock, wall
        self._round = Round(config)
        self._wanted_until = self._looked_at = self._acls_at = self._quotas_at = float("-inf")
        self._carried: tuple[float, Carried] | None = None
        self.acls: acls.Acls = {}
        self.look = Look()

    def start(self) -> None:
        turns.OF_PROCESS.enter(self)

    def stop(self) -> None:
        """Ask no more, and wait for what is asked."""
        turns.OF_PROCESS.leave(self)

    def want(self) -> None:
        """Somebody looks at the ensemble: ask it more often for half a minute. From any thread."""
        self._wanted_until = self._clock() + LEASE_S

    @property
    def is_due(self) -> bool:
        """Whether there is anything to ask."""
        now = self._clock()
        return now >= min(self._acls_at, self._look_at(now))

    def turn(self) -> None:
        """Ask what has become due."""
        now = self._clock()
        if now >= self._acls_at:
            self._read_acls()
        if now >= self._look_at(now):
            self._looked_at = now
            self._ask()

    def survive(self) -> None:
        """As `turn`; what goes wrong is told, and tried again."""
        try:
            self.turn()
        except Exception:
            log.exception("Asking the ensemble of %s failed", self._config.name)

    def _look_at(self, now: float) -> float:
        return self._looked_at + (OFTEN_S if now < self._wanted_until else SELDOM_S)

    def _read_acls(self) -> None:
        acls_now = acls.read(self._aside, self._config.chroot, self._secured)
        if acls_now is not None and acls_now != self.acls:
            self.acls = acls_now
        self._acls_at = self._clock() + (_AGAIN_S if acls_now is None else SLOW_S)

    def _ask(self) -> None:
        membership, quotas = self.look.membership, self.look.quotas
        try:
            membership = tree.members(self._aside)
            if self._clock() >= self._quotas_at:
                quotas = tree.limits(self._aside, self._config.chroot)
                self._quotas_at = self._clock() + SLOW_S
        except TimeoutError:
            pass  # no session now: what was known stays
        except MalformedError as error:
            log.warning(
                "%s: what ZooKeeper tells of itself cannot be understood: %s", self._config.name, error
            )
        servers = self._round.ask(membership)
        self.look = Look(self._wall(), servers, membership, quotas, self._footprint())

    def _footprint(self) -> Footprint:
        """What the mirror's session carried since the last round."""
        now, carried = self._clock(), self._aside.carried
        before, self._carried = self._carried, (now, carried)
        if before is None or now <= before[0]:
            return Footprint()
        over_s = now - before[0]
        return Footprint(
            requests=(carried.requests - before[1].requests) / over_s,
            events=(carried.events - before[1].events) / over_s,
            received=(carried.received - before[1].received) / over_s,
            over_s=over_s,
        )
