"""What stands under the header when not all is well: what happened, then what it means for the page."""

from __future__ import annotations

import msgspec
from django.utils.safestring import SafeString

from zkdash import program
from zkdash.cluster.analysis import kraft
from zkdash.cluster.model.severity import Severity
from zkdash.live.parts import Block
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import cells, times
from zkdash.zk.connection.session import Phase, Session


class Banner(msgspec.Struct, frozen=True):
    """One line. `as_of` (epoch ms) follows as "Data as of …" where what is shown is older than now."""

    severity: Severity
    sentence: str
    as_of: int | None = None

    @property
    def time(self) -> SafeString | str:
        return "" if self.as_of is None else times.time_html(self.as_of)


def no_watcher() -> str:
    """What is said of every cluster where nothing watches."""
    return (
        "No watcher runs in this process, so nothing is known of any cluster. Start zkdash with "
        f"“{program.line('serve')}”, which watches ZooKeeper and serves these pages."
    )


def block(snapshot: Snapshot) -> Block:
    """The live banner: a line or more, the phase for the style sheet, and the worst for the tab's title."""
    banners = (connection(snapshot), _storage(snapshot), _settling(snapshot), _kraft(snapshot))
    lines = tuple(line for line in banners if line)
    return Block(
        id="banner",
        template="frame/banner.html",
        values=(lines, snapshot.session.phase.value, worst(snapshot)),
        is_kept=True,
    )


def worst(snapshot: Snapshot) -> str:
    """The worst of the findings as the tab's title has it: `✕ 2`, empty while nothing is wrong.

    What somebody took note of is not counted.
    """
    severities = [
        finding.severity
        for finding in snapshot.leading
        if finding.severity in {Severity.CRITICAL, Severity.WARNING}
    ]
    if not severities:
        return ""
    severity = min(severities, key=lambda severity: severity.rank)
    return f"{severity.glyph} {severities.count(severity)}"


def connection(snapshot: Snapshot) -> Banner | None:
    """What is wrong with the connection, None while ZooKeeper is followed."""
    session = snapshot.session
    as_of = None if snapshot.as_of is None else int(snapshot.as_of * 1000)
    if session.phase is Phase.LIVE:
        return _late(snapshot, as_of)
    if session.phase is Phase.LOADING:
        return _loading(snapshot, as_of)
    if session.phase is Phase.REFUSED:
        return Banner(Severity.CRITICAL, session.sentence or f"{snapshot.address} cannot be watched.", as_of)
    return Banner(*_broken(session, snapshot), as_of)


def _broken(session: Session, snapshot: Snapshot) -> tuple[Severity, str]:
    detail = f" {session.sentence}" if session.sentence else ""
    if session.phase is Phase.LOST:
        return Severity.CRITICAL, f"Session lost.{detail} Reconnecting; showing the last known state."
    if session.phase is Phase.SUSPENDED:
        return Severity.WARNING, f"Reconnecting to ZooKeeper.{detail}"
    if snapshot.as_of is None:
        return (
            Severity.WARNING,
            f"Connecting to ZooKeeper at {snapshot.address}.{detail} Nothing is known yet.",
        )
    return Severity.CRITICAL, f"No connection to ZooKeeper.{detail} Showing the last known state."


def _loading(snapshot: Snapshot, as_of: int | None) -> Banner:
    session = snapshot.session
    count = cells.grouped(session.loaded)
    about = "" if session.expected is None else f" of about {cells.grouped(session.expected)}"
    word = "Catching up" if snapshot.state.loaded else "First load"
    return Banner(Severity.INFO, f"{word}: {count}{about} znodes.", as_of)


def _late(snapshot: Snapshot, as_of: int | None) -> Banner | None:
    if not snapshot.stale:
        return Banner(Severity.WARNING, snapshot.session.sentence) if snapshot.session.sentence else None
    if as_of is None:
        return Banner(
            Severity.INFO, "Loaded just now; ZooKeeper has yet to confirm that nothing changed since."
        )
    return Banner(Severity.WARNING, "ZooKeeper has not answered for over 3 s, so this may be old.", as_of)


def _kraft(snapshot: Snapshot) -> Banner | None:
    """Who owns the metadata where that is no broker: what is seen is then a copy, and nothing can be done."""
    owner = kraft.owner(snapshot.state)
    if owner is None:
        return None
    return Banner(
        Severity.INFO,
        f"KRaft controller {owner} owns the metadata: what ZooKeeper holds is a copy, which may have grown "
        "old. No action is taken.",
    )


def _storage(snapshot: Snapshot) -> Banner | None:
    """What is wrong with zkdash's own database: the mirror needs none, what writes does."""
    if not snapshot.storage:
        return None
    return Banner(
        Severity.WARNING,
        f"zkdash’s own database cannot be written: {snapshot.storage}. What is shown is live; signing in, "
        "actions, acknowledgements, tokens and embeds wait until it can.",
    )


def _settling(snapshot: Snapshot) -> Banner | None:
    if not snapshot.state.settling:
        return None
    return Banner(
        Severity.INFO,
        "ZooKeeper changes faster than it can be read in one piece: a transaction may show in part.",
    )
