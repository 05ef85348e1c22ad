"""What Group tells of offsets that a coordinator keeps: can it tell them, who is next, and until when."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from tests import lags
from tests.web import states
from tests.web.markup import Markup
from zkdash.broker.coordinators.retention import DAY, WEEK
from zkdash.broker.samples import (
    Commit,
    Description,
    GroupCommits,
    GroupMember,
    Listing,
    Retention,
    Samples,
    UnknownCommits,
)

URL = "/c/demo/groups/modern/"
# 2026-11-20 10:42:07 UTC, to which days are added below
SEEN = 1_795_171_327.0
DEFAULT = Retention(WEEK, by_group=True, is_default=True)


def _tree(isr: list[int] | None = None) -> states.Tree:
    tree = states.healthy() | states.topic("__consumer_offsets", {0: [2, 1, 3]})
    if isr is not None:
        state = {"controller_epoch": 1, "leader": 2, "version": 1, "leader_epoch": 4, "isr": isr}
        tree["/brokers/topics/__consumer_offsets/partitions/0/state"] = states.znode(state)
    return tree


def _publish(samples: Samples, tree: states.Tree | None = None) -> None:
    listed = samples.listings.set(2, Listing(frozenset({"modern"}), SEEN))
    commits = samples.commits
    if "modern" not in commits:
        commits = commits.set("modern", GroupCommits(2, {("orders", 0): Commit(5, "")}, SEEN))
    samples = Samples(
        listings=listed, commits=commits, descriptions=samples.descriptions, retentions=samples.retentions
    )
    tree = _tree() if tree is None else tree
    state = states.snapshot(tree).state
    counted, groups = lags.counted(state, samples), lags.listed(state, samples)
    states.publish(tree, samples=samples, lags=counted, kafka_groups=groups)


def _described(state: str, emptied: tuple[float | None, float] | None = None) -> Description:
    members = () if state == "Empty" else (GroupMember("m-1", "app", "/10.0.0.1", {}),)
    return Description(2, state, "consumer", "range", members, SEEN, emptied)


def _facts(client: Client) -> dict[str, str]:
    page = Markup(client.get(URL))
    return dict(zip(page.texts("#facts dt"), page.texts("#facts dd"), strict=True))


def _retention(client: Client) -> Any:
    return json.loads(client.get(URL, {"format": "json"}).content)["group"]["retention"]


def test_a_coordinator_that_loads_is_told_as_loading_and_not_as_zero_or_as_a_fault(client: Client) -> None:
    before = GroupCommits(2, {("orders", 0): Commit(5, "")}, SEEN)
    loading = UnknownCommits("broker 2: it still loads the group's commits", before, passes=True)
    _publish(Samples(commits=Samples().commits.set("modern", loading)))
    page = Markup(client.get(URL))
    assert _facts(client)["Offsets"] == "in Kafka, and not told now"
    note = page.texts("p.note")[0]
    assert note.startswith("The offsets in Kafka are unknown for now: broker 2: it still loads")
    assert "it is asked again" in note
    document = client.get(URL, {"format": "json"}).json()
    assert document["topics"][0]["lag"] is None
    assert document["topics"][0]["lag_reason"] == "broker 2: it still loads the group's commits"
    refused = UnknownCommits("broker 2: it does not let us read this group", before)
    _publish(Samples(commits=Samples().commits.set("modern", refused)))
    assert "unknown for now" not in Markup(client.get(URL)).text("#facts")


def test_a_group_in_zookeeper_whose_coordinator_loads_is_not_said_to_be_nowhere_else(client: Client) -> None:
    tree = _tree() | states.group("modern", {}, offsets={"orders": {0: 3}})
    loading = UnknownCommits("broker 2: it still loads the group's commits", passes=True)
    _publish(Samples(commits=Samples().commits.set("modern", loading)), tree)
    facts = _facts(client)
    assert facts["Offsets"] == "in ZooKeeper; whether in Kafka, the coordinator cannot tell yet"
    assert "unknown for now" in Markup(client.get(URL)).text("#facts")


def test_it_says_who_coordinates_next_if_the_coordinator_stops(client: Client) -> None:
    _publish(Samples(), _tree(isr=[2, 3]))
    facts = _facts(client)
    assert facts["Coordinator"] == "broker 2 leads partition 0 of __consumer_offsets"
    assert facts["If it stops"].startswith("broker 3 leads the partition next")
    assert "leader epoch now 4" in facts["If it stops"]
    _publish(Samples(), _tree(isr=[2]))
    assert _facts(client)["If it stops"].startswith("nobody takes over")
    coordinator = client.get(URL, {"format": "json"}).json()["group"]["coordinator"]
    assert (coordinator["replicas"], coordinator["successor"]) == ([2, 1, 3], None)


LASTS = "for 7 days after the group has lost its last member (KIP-211);"
BETWEEN = "deleted between 2026-11-27 10:41:07 and 2026-11-27 10:52:07, if nobody joins"
LATEST = "it had none when it was first asked: deleted at the latest 2026-11-27 10:52:07"
BY_COMMIT = "each for 90 minutes after it was committed, members or not (before 2.1, KIP-211)"
OLD = Retention(90, by_group=False, is_default=False)


@pytest.mark.parametrize(
    ("kept", "description", "sentence", "deleted"),
    [
        (DEFAULT, _described("Empty", (SEEN - 60, SEEN)), f"{LASTS} {BETWEEN}", ("10:41:07", "10:52:07")),
        (DEFAULT, _described("Empty", (None, SEEN)), f"{LASTS} {LATEST}", (None, "10:52:07")),
        (DEFAULT, _described("Stable"), f"{LASTS} it has 1 member", (None, None)),
        (OLD, _described("Empty", (SEEN - 60, SEEN)), BY_COMMIT, (None, None)),
    ],
)
def test_until_when_a_coordinator_keeps_offsets_is_told_by_its_releases_rule(
    client: Client,
    kept: Retention,
    description: Description,
    sentence: str,
    deleted: tuple[str | None, str | None],
) -> None:
    retentions = Samples().retentions.set(2, kept)
    _publish(Samples(retentions=retentions, descriptions=Samples().descriptions.set("modern", description)))
    assert _facts(client)["Kept in Kafka"] == sentence
    record = _retention(client)
    assert (record["minutes"], record["is_default"]) == (kept.minutes, kept.is_default)
    assert record["counted_from"] == ("last member" if kept.by_group else "commit")
    moments = [None if at is None else f"2026-11-27T{at}.000Z" for at in deleted]
    assert [record["deleted_earliest"], record["deleted_latest"]] == moments


def test_who_was_not_asked_may_be_known_by_its_registration_or_is_unknown(client: Client) -> None:
    _publish(Samples())  # brokers of version 4: 0.10.2 to 2.6, and later ones that are told to write so
    assert _facts(client)["Kept in Kafka"].startswith("for how long is unknown")
    assert _retention(client)["minutes"] is None
    refused = Retention(DAY, by_group=False, reason="broker 2: it does not let us describe the cluster")
    _publish(Samples(retentions=Samples().retentions.set(2, refused)))
    assert _facts(client)["Kept in Kafka"].endswith("Assumed: it is what its release has unless set")
    record = _retention(client)
    assert (record["minutes"], record["is_default"]) == (DAY, None)
    assert record["minutes_reason"] == "broker 2: it does not let us describe the cluster"


def test_a_group_with_nothing_in_kafka_has_no_retention(client: Client) -> None:
    tree = _tree() | states.group("modern", {}, offsets={"orders": {0: 3}})
    _publish(Samples(commits=Samples().commits.set("modern", GroupCommits(2, {}, SEEN))), tree)
    assert "Kept in Kafka" not in _facts(client)
    assert _retention(client) is None
