"""The consumer groups of a simulated cluster: their members by name, and what may be done to them.

A member's name is `<group>-<n>`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random

from zkdash.demo.consumers import member, offsets
from zkdash.demo.consumers.configs import GroupSpec
from zkdash.demo.runtime import clock, event_loop

DETECTION_S = 6.0  # how long ZooKeeper keeps the session of a consumer that hangs


class Groups:
    """Members that all act on one agenda. `random` gives each of them chance of its own, by name.

    `pace` tells how far the members of a group read, by default as chance will have it.
    """

    def __init__(
        self,
        specs: Iterable[GroupSpec],
        address: str,
        *,
        steps: event_loop.Agenda,
        time: clock.Clock,
        random: Callable[[str], Random],
        pace: Callable[[GroupSpec], offsets.Pace] | None = None,
    ) -> None:
        self.specs = {spec.name: spec for spec in specs}
        self.members = {
            f"{spec.name}-{number}": member.Member(
                spec.consumer(number),
                address,
                steps=steps,
                time=time,
                random=random(f"member {spec.name}-{number}"),
                pace=pace and pace(spec),
            )
            for spec in self.specs.values()
            for number in range(len(spec.members))
        }

    def start(self) -> None:
        """Let every member join; those of abandoned and nightly groups commit once and leave."""
        for each in self.members.values():
            each.join()
        for each in self.members.values():
            spec = self.specs[each.spec.group]
            if spec.abandoned or spec.nightly:
                each.leave()

    def stop(self) -> None:
        for each in self.members.values():
            each.leave(commit=False)

    def restless(self) -> list[str]:
        """The running members that come and go."""
        return self._last(lambda spec: spec.restless)

    def drowsy(self) -> list[str]:
        """The running members that hang now and then."""
        return self._last(lambda spec: spec.drowsy)

    def nightly(self) -> dict[str, list[str]]:
        """The members of each group that comes now and then, by its name."""
        return {
            spec.name: [f"{spec.name}-{number}" for number in range(len(spec.members))]
            for spec in self.specs.values()
            if spec.nightly
        }

    def _last(self, chosen: Callable[[GroupSpec], bool]) -> list[str]:
        names = [f"{spec.name}-{len(spec.members) - 1}" for spec in self.specs.values() if chosen(spec)]
        return [name for name in names if self.members[name].is_running]
