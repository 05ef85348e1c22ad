"""Many sockets on a real serving process, over a cluster that changes all the time, and over a calm one.

The restless part: sockets on several pages, some of which hardly read, while topics change, come and go.
Afterwards every page, built from its frames, must be the page that a fresh GET gives. Before anybody looks
on, the same changes tell what following them costs: a core that has no time for all frames, because it is
slow, still follows all changes, and would share that among too few. The calm part: many sockets on one page,
and what a frame costs the server.
"""

from __future__ import annotations

from typing import NamedTuple

from bench import progress, served, serving, usage
from bench.result import Goal, Kept, Number, Result
from bench.side import Figures, Side
from bench.sizes import Shape, Size

_LIMIT_S = 240.0
_SETTLE_S = 30.0
_PAUSE_S = 1.0
# What a quick socket gets of a restless cluster where a core has time for all: one each batch of 50 ms, and
# what it takes to make it (decision 24: 3,600 a second to 195 of them).
_FRAMES_A_SECOND = 18.5

_RESTLESS = Shape(200, 10, 10)
_CALM = Shape(40, 10, 5)
_TOPICS = "/c/default/topics/"


class Load(NamedTuple):
    """What is done to a serving process: `groups` are (path, sockets, seconds to pause after a frame).

    For `alone_s` nobody looks on yet.
    """

    shape: Shape
    groups: tuple[tuple[str, int, float], ...]
    what: str
    rate: float
    seconds: float
    alone_s: float = 0.0

    @property
    def sockets(self) -> int:
        return sum(sockets for _, sockets, _ in self.groups)

    @property
    def frames_due(self) -> float:
        """Frames a second, where a core has time for all."""
        return _FRAMES_A_SECOND * sum(sockets for _, sockets, pause_s in self.groups if not pause_s)


class Seen(NamedTuple):
    """What the visitors told, and what the server used meanwhile.

    `following` is the share of a core that it used while nobody looked on, 0 where that was not measured.
    """

    load: Load
    visitors: Figures
    written: Figures
    cpu_s: float
    peak_mib: float
    following: float

    @property
    def frame_s(self) -> float:
        """Seconds of CPU for one frame, following aside."""
        told = self.visitors
        return (self.cpu_s - self.following * float(told["seconds"])) / int(told["frames"])

    @property
    def share(self) -> float:
        """The share of a core where it has time for all frames."""
        return self.following + self.frame_s * self.load.frames_due


def restless(
    *, sockets: int = 200, slow: int = 5, rate: float = 1_000, seconds: float = 30.0, alone_s: float = 0.0
) -> Load:
    """Four pages, and some sockets that take one frame a second, with next to no buffer."""
    quick = sockets - slow
    paths = (_TOPICS, f"{_TOPICS}?q=topic-001&sort=name", f"{_TOPICS}topic-00000/", "/c/default/")
    shares = [quick // len(paths)] * len(paths)
    shares[0] += quick - sum(shares)
    groups = [(path, share, 0.0) for path, share in zip(paths, shares, strict=True)]
    return Load(_RESTLESS, (*groups, (_TOPICS, slow, _PAUSE_S)), "churn", rate, seconds, alone_s)


def calm(*, sockets: int = 1_000, rate: float = 4, seconds: float = 20.0) -> Load:
    """One page, on which every change shows."""
    return Load(_CALM, ((_TOPICS, sockets, 0.0),), "states", rate, seconds)


def run(size: Size) -> Result:
    """Both parts; the small size has a tenth of the sockets for a tenth of the time."""
    small = size.name == "small"
    busy = seen(restless(sockets=40, rate=500, seconds=2, alone_s=1) if small else restless(alone_s=10))
    quiet = seen(calm(sockets=100, seconds=2) if small else calm())
    told = busy.visitors
    busy_us = busy.share / busy.load.frames_due * 1e6
    frame_us = quiet.cpu_s / quiet.visitors["frames"] * 1e6
    return Result(
        "fan_out",
        size.name,
        {"restless": _figures(busy) | _apart(busy), "calm": _figures(quiet)},
        (
            Goal("restless: pages unlike a fresh GET, sockets lost or behind", _wrong(busy), 0),
            Goal("restless: frames/s at the best served socket", told["most_frames_a_second"], 20.5),
            Goal(
                "restless: least served to best served quick socket", told["least_served"], 0.9, at_least=True
            ),
            Goal(
                "restless: server CPU, µs a frame of all", busy_us, 100, kept=Kept(180, 24), is_of_core=True
            ),
            Goal(
                "restless: server CPU, share of a core with time for all frames",
                busy.share,
                0.4,
                kept=Kept(0.65, 24),
                is_of_core=True,
            ),
            Goal("calm: pages unlike a fresh GET, sockets lost or behind", _wrong(quiet), 0),
            Goal("calm: server CPU, µs a frame", frame_us, 40, is_of_core=True),
        ),
    )


def seen(load: Load) -> Seen:
    """Put one load on a server of its own."""
    what = f"fan_out: {load.sockets} sockets, {load.rate:g} changes a second for {load.seconds:g} s"
    with (
        progress.step(what),
        served.server(load.shape, heap_mb=256) as zookeeper,
        serving.serving(zookeeper.address, load.shape.topics) as process,
        Side("writer", zookeeper.address) as writer,
        Side("visitors", process.address) as visitors,
    ):
        following = 0.0
        if load.alone_s:
            alone, cpu_s = _changed(load, load.alone_s, process.pid, writer)
            following = cpu_s / alone["seconds"]
        visitors.tell(groups=load.groups)
        visitors.heard(limit_s=_LIMIT_S)
        visitors.tell(begin=True)
        visitors.heard(limit_s=_LIMIT_S)
        written, cpu_s = _changed(load, load.seconds, process.pid, writer)
        visitors.tell(settle=_SETTLE_S)
        told = visitors.heard(limit_s=_LIMIT_S)
        return Seen(load, told, written, cpu_s, usage.peak_mib(process.pid), following)


def _changed(load: Load, seconds: float, pid: int, writer: Side) -> tuple[Figures, float]:
    """What the writer tells of so many seconds of changes, and the server's seconds of CPU meanwhile."""
    cpu_s = usage.cpu_of_s(pid)
    writer.tell(what=load.what, rate=load.rate, seconds=seconds, shape=load.shape)
    written = writer.heard(limit_s=_LIMIT_S)
    return written, usage.cpu_of_s(pid) - cpu_s


def _wrong(found: Seen) -> int:
    told = found.visitors
    return int(told["different"] + told["lost"] + told["behind"])


def _figures(found: Seen) -> dict[str, Number]:
    told = found.visitors
    return {
        "changes": found.written["count"],
        "changes/s": found.written["count"] / found.written["seconds"],
        "frames": told["frames"],
        "frames/s at the best served socket": told["most_frames_a_second"],
        "pages fetched again": told["refetches"],
        "server CPU, share of a core": found.cpu_s / told["seconds"],
        "server CPU, µs a frame": found.cpu_s / told["frames"] * 1e6,
        "server peak memory, MiB": found.peak_mib,
    }


def _apart(found: Seen) -> dict[str, Number]:
    return {
        "server CPU of following, share of a core": found.following,
        "server CPU, µs a frame, following aside": found.frame_s * 1e6,
    }
