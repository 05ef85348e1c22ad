"""How fast a core is here, now: a fixed piece of work, beside what it takes on the core of the goals.

A goal in seconds of a core's time says nothing of another machine's, nor of this one's while its neighbours
are at work: the same commit has taken 161 µs a frame on one day and 235 on another, on one machine. So each
row is told with what the work took just before and after it, and goals in a core's time are held against
what the row would have taken on the reference core.
"""

from __future__ import annotations

import json
import statistics
import time

# Seconds of CPU that the passes take on the core on which the goals were measured, by decision 24.
REFERENCE_S = 0.1

_TIMES = 5
_PASSES = 6
_STATES = 4_000


def slowness() -> float:
    """How many times as long as on the reference core the work takes on this one now; median of five."""
    return statistics.median(_work_s() for _ in range(_TIMES)) / REFERENCE_S


def work() -> int:
    """What zkdash does all day, in small: parse states, keep them by path, sort them, write rows."""
    states = {}
    for number in range(_STATES):
        path = f"/brokers/topics/topic-{number % 97:05}/partitions/{number}/state"
        text = (
            f'{{"controller_epoch":1,"leader":{number % 9},"version":1,"leader_epoch":{number},"isr":[1,2]}}'
        )
        states[path] = {**json.loads(text), "topic": path.split("/")[3]}
    ordered = sorted(states.items(), key=lambda item: (item[1]["leader"], item[1]["topic"], item[0]))
    return len("".join(f"<tr><td>{path}<td>{state['leader']}<td>{state['isr']}" for path, state in ordered))


def _work_s() -> float:
    before = time.process_time()
    for _ in range(_PASSES):
        work()
    return time.process_time() - before
