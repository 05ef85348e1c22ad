"""The consumer groups of a simulated cluster: their members by name, and what may be done to them.

A member's name is `<group>-<n>`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random

from zkdash.demo.consumers import member, offsets
from zkdash.demo.consumers.configs import GroupConfig
from zkdash.demo.runtime import clock, event_loop

DETECTION_S = 6.0  # how long ZooKeeper keeps the session of a consumer that hangs


class ConsumerGroups:
    """Members that all act on one event loop. `random` gives a generator for a name, one for each member.

    `next_offset` gives for a group how far its members read, by default at random.
    """

    def __init__(
        self,
        configs: Iterable[GroupConfig],
        address: str,
        *,
        loop: event_loop.EventLoop,
        time: clock.Clock,
        random: Callable[[str], Random],
        next_offset: Callable[[GroupConfig], offsets.NextOffset] | None = None,
    ) -> None:
        self.configs = {config.name: config for config in configs}
        self.members = {
            f"{config.name}-{number}": member.Member(
                config.consumer(number),
                address,
                loop=loop,
                time=time,
                random=random(f"member {config.name}-{number}"),
                next_offset=next_offset and next_offset(config),
            )
            for config in self.configs.values()
            for number in range(len(config.members))
        }

    def start(self) -> None:
        """Let every member join; those of abandoned and periodic groups commit once and leave."""
        for each in self.members.values():
            each.join()
        for each in self.members.values():
            config = self.configs[each.config.group]
            if config.abandoned or config.periodic:
                each.leave()

    def stop(self) -> None:
        for each in self.members.values():
            each.leave(commit=False)

    def redeployed_members(self) -> list[str]:
        """The running members that are deployed anew now and then."""
        return self._last(lambda config: config.redeploys)

    def hanging_members(self) -> list[str]:
        """The running members that hang now and then."""
        return self._last(lambda config: config.hangs)

    def periodic_members(self) -> dict[str, list[str]]:
        """The members of each group that comes now and then, by its name."""
        return {
            config.name: [f"{config.name}-{number}" for number in range(len(config.members))]
            for config in self.configs.values()
            if config.periodic
        }

    def _last(self, is_chosen: Callable[[GroupConfig], bool]) -> list[str]:
        names = [
            f"{config.name}-{len(config.members) - 1}"
            for config in self.configs.values()
            if is_chosen(config)
        ]
        return [name for name in names if self.members[name].is_running]
