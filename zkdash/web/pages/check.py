"""One check of the Overview, by its id: a view for frames and badges, without an address of its own."""

from __future__ import annotations

from zkdash.cluster import checks
from zkdash.cluster.findings import Finding
from zkdash.cluster.tone import Tone
from zkdash.live.parts import Block, PageKey
from zkdash.live.snapshot import Snapshot, Touched
from zkdash.web import links, page
from zkdash.web.page import Page, View
from zkdash.web.pages.overview import Sentence
from zkdash.zk.session import Phase

NAME = "check"
_AREAS = frozenset({"findings", "session", "brokers", "controller", "topics", "groups", "problems"})


def look(snapshot: Snapshot, key: PageKey) -> View:
    (check,) = key.args
    found = finding(snapshot, check)
    failing = () if found is None else (_sentence(snapshot.cluster, found),)
    values = (failing, (), _otherwise(snapshot, check))
    return View(
        title=checks.TITLES[check],
        parts=(Block(id="checks", template="parts/checks.html", values=values),),
    )


def finding(snapshot: Snapshot, check: str) -> Finding | None:
    """What the check holds against the cluster, None where it fails nothing."""
    return next((one for one in snapshot.findings if one.check == check), None)


def passes(snapshot: Snapshot, check: str) -> bool:
    """Whether it is known now that the check holds nothing against the cluster."""
    return is_known(snapshot) and check in snapshot.passing


def is_known(snapshot: Snapshot) -> bool:
    """Whether ZooKeeper is followed: what is shown of the cluster is how it is."""
    return snapshot.state.loaded and snapshot.session.phase is Phase.LIVE and not snapshot.stale


def touches(_key: PageKey, touched: Touched) -> bool:
    return not _AREAS.isdisjoint(touched.areas)


def _otherwise(snapshot: Snapshot, check: str) -> tuple[Tone, str]:
    """What stands where the check does not fail: no good news of what is not known to be so now."""
    title = checks.TITLES[check]
    if not snapshot.state.loaded:
        return Tone.UNKNOWN, f"{title}? Nothing is checked before the first load."
    if check not in snapshot.passing:
        return Tone.UNKNOWN, f"{title}? The check has nothing to say of this cluster now."
    if snapshot.session.phase is not Phase.LIVE:
        return Tone.UNKNOWN, f"{title}, in the last known state."
    return Tone.OK, f"{title}."


def _sentence(cluster: str, found: Finding) -> Sentence:
    return Sentence(
        check=found.check,
        tone=found.tone,
        what=found.sentence,
        remedy=found.remedy,
        since=int(found.since * 1000),
        href=links.finding(cluster, found),
    )


PAGE = Page(
    name=NAME,
    route="",
    template="embeds/check.html",
    look=look,
    touches=touches,
    canonical=page.without_query,
)
