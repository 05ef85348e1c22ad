"""What is wrong with an ensemble, from looks at it one after another. Pure: a look brings its own time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from zkdash.cluster.ensemble import quorum, server_limits
from zkdash.cluster.ensemble.values import Ailment, Thresholds
from zkdash.cluster.model.severity import Severity
from zkdash.formats.ensemble.values import Look, Server

# Sizes are kept so far apart, in seconds.
_APART_S = 60.0


class Point(msgspec.Struct, frozen=True):
    """Data size and znodes of the largest server at an epoch second."""

    at: float
    data_size: int | None
    znodes: int | None


class History(msgspec.Struct, frozen=True):
    """What must be remembered between two looks.

    `since` tells by (rule, server) since when something holds that is only wrong when it lasts. `elections`
    are when the epoch was seen to change, `zxid` is the newest seen `at` the last look.
    """

    at: float | None = None
    since: Mapping[tuple[str, str], float] = {}
    epoch: int | None = None
    elections: tuple[float, ...] = ()
    zxid: int | None = None
    points: tuple[Point, ...] = ()


def examine(history: History, look: Look, limits: Thresholds) -> tuple[History, tuple[Ailment, ...]]:
    """The history with this look in it, and what is wrong now, worst first."""
    if look.at is None:
        return history, ()
    now = _remember(history, look, look.at, limits)
    ailments = [
        *quorum.judge(look),
        *server_limits.judge(look, limits),
        *_lasting(now, look, look.at, limits),
    ]
    return now, tuple(sorted(ailments, key=lambda ailment: ailment.severity.rank))


def _remember(before: History, look: Look, at: float, limits: Thresholds) -> History:
    holding = {(rule, server.address) for server in look.servers for rule in _held(server, before, limits)}
    zxids = [server.told.zxid for server in look.servers if server.told.zxid is not None]
    newest = max(zxids, default=before.zxid)
    epoch = before.epoch if newest is None else newest >> 32
    elections = tuple(moment for moment in before.elections if moment > at - limits.elections_s)
    if before.epoch is not None and epoch != before.epoch:
        elections += (at,)
    points = tuple(point for point in before.points if point.at > at - limits.jump_s)
    if not points or points[-1].at <= at - _APART_S:
        points += (_point(look, at),)
    return History(
        at=at,
        since={key: before.since.get(key, at) for key in holding},
        epoch=epoch,
        elections=elections,
        zxid=newest,
        points=points,
    )


def _held(server: Server, before: History, limits: Thresholds) -> Iterator[str]:
    answer = server.told
    if answer.outstanding is not None and answer.outstanding > limits.outstanding:
        yield "outstanding"
    if answer.pending_syncs:
        yield "pending-syncs"
    # The servers are not asked at one moment: who has come to where the newest was then is not behind.
    if answer.zxid is not None and before.zxid is not None and answer.zxid < before.zxid:
        yield "behind"


def _lasting(now: History, look: Look, at: float, limits: Thresholds) -> Iterator[Ailment]:
    lasts = {"outstanding": limits.outstanding_s, "pending-syncs": limits.pending_syncs_s}
    for server in look.servers:
        for rule, least in (*lasts.items(), ("behind", limits.behind_s)):
            since = now.since.get((rule, server.address))
            if since is not None and at - since >= least:
                yield Ailment(
                    rule, Severity.WARNING, _words(rule, server, at - since, now.zxid), server.address
                )
    if len(now.elections) >= limits.elections:
        minutes = limits.elections_s / 60
        yield Ailment(
            "elections",
            Severity.WARNING,
            f"The leader was elected anew {len(now.elections)} times within {minutes:g} minutes.",
        )
    yield from _jumps(now, look, at, limits)


def _words(rule: str, server: Server, lasts: float, newest: int | None) -> str:
    name, answer = server.address, server.told
    if rule == "outstanding":
        return f"{name} has had requests waiting for over {lasts:.0f} s, {answer.outstanding} now."
    if rule == "pending-syncs":
        return f"{name} has owed answers to sync for over {lasts:.0f} s, {answer.pending_syncs} now."
    return (
        f"{name} is at zxid 0x{answer.zxid or 0:x} and has been behind the newest, 0x{newest or 0:x}, for "
        f"over {lasts:.0f} s: who reads there sees old state."
    )


def _point(look: Look, at: float) -> Point:
    sizes = [server.told.data_size for server in look.servers if server.told.data_size is not None]
    znodes = [server.told.znodes for server in look.servers if server.told.znodes is not None]
    return Point(at, max(sizes, default=None), max(znodes, default=None))


def _jumps(now: History, look: Look, at: float, limits: Thresholds) -> Iterator[Ailment]:
    current = _point(look, at)
    first = next((point for point in now.points), current)
    pairs = (
        ("data", "bytes of data", first.data_size, current.data_size, limits.jump_bytes),
        ("znodes", "znodes", first.znodes, current.znodes, limits.jump_znodes),
    )
    for rule, what, before, after, least in pairs:
        if before is None or after is None or max(before, after) < least:
            continue
        if abs(after - before) * 100 >= limits.jump_percent * max(before, 1):
            minutes = (at - first.at) / 60
            yield Ailment(
                f"jump-{rule}",
                Severity.WARNING,
                f"ZooKeeper went from {before} to {after} {what} within {minutes:.0f} minutes.",
            )
