"""What is played on a stage for a kind of action: set up, done, and confirmed by Kafka's own tools.

A scene is a generator of three parts. Up to its first `yield` it sets up what is its own, beside others; up
to its second it acts, alone; then Kafka's topic tool is asked about all topics; the rest confirms, beside
others. A scene of `DEAD` acts while the last broker is dead, and confirms when that is back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeAlias

from tests.kafka_live.stage import Refused, Stage

Play: TypeAlias = Generator[None, None, None]
Scene: TypeAlias = Callable[[Stage], Play]

ALIVE: dict[str, Scene] = {}
DEAD: dict[str, Scene] = {}
_AT_ONCE = 3


def scene(kind: str, stock: dict[str, Scene] = ALIVE) -> Callable[[Scene], Scene]:
    """Enter a scene under its kind."""

    def enter(played: Scene) -> Scene:
        assert kind not in ALIVE | DEAD
        stock[kind] = played
        return played

    return enter


class Outcome(NamedTuple):
    """How a scene went: "done" or "refused: …", and what broke it, if anything did."""

    told: str
    fault: Exception | None
    seconds: float


class _Running:
    def __init__(self, play: Play) -> None:
        self.play = play
        self.outcome: Outcome | None = None
        self.seconds = 0.0

    def go_on(self) -> None:
        """To the next `yield`, unless it has ended already."""
        if self.outcome is not None:
            return
        began = time.monotonic()
        ended: tuple[str, Exception | None] | None = None
        try:
            next(self.play)
        except StopIteration:
            ended = "done", None
        except Refused as refusal:
            ended = f"refused: {refusal}", None
        except Exception as fault:
            ended = "broken", fault
        self.seconds += time.monotonic() - began
        if ended:
            self.outcome = Outcome(*ended, self.seconds)


def play(stage: Stage, kinds: list[str]) -> Mapping[str, Outcome]:
    """Play the scenes of these kinds, in the order in which they are entered."""
    alive = {kind: _Running(ALIVE[kind](stage)) for kind in ALIVE if kind in kinds}
    dead = {kind: _Running(DEAD[kind](stage)) for kind in DEAD if kind in kinds}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(_Running.go_on, [*alive.values(), *dead.values()]))
        for running in alive.values():
            running.go_on()
        stage.look()
        list(pool.map(_Running.go_on, alive.values()))
        if dead:
            _play_dead(stage, list(dead.values()), pool)
    ended = {kind: running.outcome for kind, running in (alive | dead).items()}
    return {kind: outcome for kind, outcome in ended.items() if outcome}


def _play_dead(stage: Stage, scenes: list[_Running], pool: ThreadPoolExecutor) -> None:
    stage.last.die()
    stage.settle()
    for running in scenes:
        running.go_on()
    stage.start(stage.last)
    list(pool.map(_Running.go_on, scenes))
