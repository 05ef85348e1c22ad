"""The life of a topic on a real cluster, told by Kafka's own tools and by the pages, step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from tests.kafka_live.stage import Stage
from tests.lab import admin
from tests.lab.topics import Described
from tests.serving import Served
from tests.waiting import wait_for as wait_often
from zkdash.configuration.file import DEFAULT_NAME

HOME = f"/c/{DEFAULT_NAME}/"
TOPIC = "life"
LIMIT_S = 120.0
# Every look is a page of a dashboard, or a question of a tool.
wait_for = partial(wait_often, every_s=0.05)

Told = Mapping[int, Described]


class Life:
    """One cluster, from its first topic to a broker's death; `site` is a dashboard on it."""

    def __init__(self, stage: Stage, site: Served) -> None:
        self.stage = stage
        self.site = site

    def live(self) -> None:
        """Everything that Kafka's own tools do to a topic; after each step pages and tools agree."""
        # Of brokers that came one after the other the first may lead what another is preferred for.
        admin.elect_preferred(self.stage.first)
        self._is_healthy()
        self.stage.first.create_topic(TOPIC, partitions=2, replicas=2)
        self._agree(lambda told: len(told) == 2)
        self._is_healthy()
        admin.configure_topic(self.stage.first, TOPIC, "retention.ms", "3600000")
        self._has_settings({"retention.ms": "3600000"})
        self.stage.first.add_partitions(TOPIC, 3)
        self._agree(lambda told: len(told) == 3)
        self._move()
        self._is_healthy()
        self._die_and_return()
        self.stage.first.delete_topic(TOPIC)
        wait_for(lambda: TOPIC not in self._topics(), LIMIT_S, self._topics)
        self.stage.gone(f"/brokers/topics/{TOPIC}")
        self._is_healthy()

    def _move(self) -> None:
        """Each partition onto another pair of brokers, the preferred leader in the other rack."""
        moves = {(TOPIC, 0): (3, 2), (TOPIC, 1): (2, 3), (TOPIC, 2): (1, 2)}
        admin.execute(self.stage.first, moves)
        wait_for(lambda: admin.verify(self.stage.first, moves), LIMIT_S)
        wanted = {number: replicas for (_, number), replicas in moves.items()}
        self._agree(lambda told: {number: one.replicas for number, one in told.items()} == wanted)
        admin.elect_preferred(self.stage.first)
        self._agree(lambda told: all(one.leader == one.replicas[0] for one in told.values()))

    def _die_and_return(self) -> None:
        """Broker 3 is killed: what the tool calls under-replicated is what the pages and the check count."""
        self.stage.last.die()
        self.stage.settle()
        self._agree(lambda told: all(3 not in one.isr for one in told.values()))
        lacking = sum(len(one.isr) < len(one.replicas) for one in self._described().values())
        assert lacking

        def told() -> tuple[int, int]:
            return 2, lacking + self._lacking_elsewhere()

        wait_for(lambda: self._numbers() == told(), LIMIT_S, lambda: (self._numbers(), told()))
        wait_for(lambda: {"D8", "D11"} <= self._findings(), LIMIT_S, self._findings)
        self.stage.last.start()
        self.stage.settle()
        self._agree(lambda told: all(set(one.isr) == set(one.replicas) for one in told.values()))
        admin.elect_preferred(self.stage.first)
        self._agree(lambda told: all(one.leader == one.replicas[0] for one in told.values()))
        self._is_healthy()

    def _agree(self, wanted: Callable[[Told], bool]) -> None:
        """Wait until the page tells what is wanted, and then the tool tells the same."""
        wait_for(lambda: wanted(self._shown()), LIMIT_S, self._shown)
        wait_for(
            lambda: self._described() == self._shown(), LIMIT_S, lambda: (self._described(), self._shown())
        )

    def _described(self) -> Told:
        return self.stage.first.describe_topic(TOPIC)

    def _shown(self) -> Told:
        answer = self.site.get(f"{HOME}topics/{TOPIC}/?format=json")
        if answer.status != 200:
            return {}
        rows = self.site.json(f"{HOME}topics/{TOPIC}/")["rows"]
        if any(row["isr"] is None for row in rows):
            return {}
        return {
            row["partition"]: Described(
                None if row["leader"] == -1 else row["leader"], tuple(row["replicas"]), tuple(row["isr"])
            )
            for row in rows
        }

    def _topics(self) -> list[str]:
        return [row["name"] for row in self.site.json(f"{HOME}topics/")["rows"]]

    def _numbers(self) -> tuple[int, int]:
        """The live brokers, and the partitions that lack a replica."""
        numbers = self.site.json(HOME)["numbers"]
        return numbers["brokers"], numbers["under_replicated"]

    def _lacking_elsewhere(self) -> int:
        """Under-replicated partitions of other topics, as the tool tells."""
        return sum(
            len(one.isr) < len(one.replicas)
            for name, lists in self.stage.first.describe_topics().items()
            if name != TOPIC
            for one in lists.values()
        )

    def _findings(self) -> set[str]:
        return {row["check"] for row in self.site.json(HOME)["rows"]}

    def _problems(self) -> Any:
        return self.site.json(f"{HOME}problems/")["rows"]

    def _is_healthy(self) -> None:
        """No problem, and no finding, also after each check's own time."""
        wait_for(lambda: not self._findings(), LIMIT_S, lambda: self.site.json(HOME)["rows"])
        wait_for(lambda: not self._problems(), LIMIT_S, self._problems)

    def _has_settings(self, wanted: Mapping[str, str]) -> None:
        def shown() -> dict[str, str]:
            overrides: dict[str, str] = self.site.json(f"{HOME}topics/{TOPIC}/")["config"]["overrides"]
            return overrides

        wait_for(lambda: shown() == wanted, LIMIT_S, shown)

        def told() -> dict[str, str]:
            return self.stage.first.topic_options(TOPIC)

        # Newer tools print what the broker's own configuration says too.
        wait_for(lambda: wanted.items() <= told().items(), LIMIT_S, told)
