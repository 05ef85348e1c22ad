"""The metrics as Prometheus' own parser reads them, and the rules and the dashboard that stand on them."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from django.contrib.auth.models import User
from django.test import Client
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_families
from prometheus_client.parser import text_string_to_metric_families
from pytest_django.fixtures import Settings

from tests.web import states
from zkdash import live
from zkdash.access.models import Grant
from zkdash.actions.reading.entries import Entry
from zkdash.actions.states import State
from zkdash.cluster.ensemble.values import Ensemble
from zkdash.cluster.model.findings import Finding
from zkdash.cluster.model.severity import Severity
from zkdash.formats.ensemble.values import Look, Reach, Server, Told
from zkdash.history.recorder import status
from zkdash.live import engine
from zkdash.live.queue import Queue
from zkdash.live.runs import Run
from zkdash.live.sockets import renders
from zkdash.pipeline import runs as pipeline_runs
from zkdash.web.api import collector
from zkdash.zk.connection.session import Phase

DOCS = Path(__file__).resolve().parents[3] / "docs"
Samples = Mapping[tuple[str, tuple[tuple[str, str], ...]], float]

pytestmark = pytest.mark.django_db


def scrape(client: Client, **headers: str) -> Samples:
    answer = client.get("/metrics", headers=headers)
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain; version=")
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


def of(found: Samples, name: str, cluster: str = "demo", **labels: str) -> float | None:
    return found.get((f"zkdash_{name}", tuple(sorted({"cluster": cluster, **labels}.items()))))


def test_the_page_tells_the_cluster_that_is_watched(client: Client) -> None:
    scrape(client)  # what the first request imports makes nothing old
    finding = Finding("D1", Severity.CRITICAL, "1 partition has no leader", 1, "topics", "", 0.0, "")
    states.publish(
        {**states.sick(), **states.group("g", {"g_h-1-00000000": ["orders"]}, owners={"orders": [0]})},
        findings=(finding,),
        passing=("D8",),
    )
    found = scrape(client)
    assert {name: of(found, name) for name in collector.FACTS} == {
        "brokers": 2,
        "controller_present": 1,
        "controller_epoch": 12,
        "topics": 3,
        "partitions": 6,
        "partitions_offline": 1,
        "partitions_under_replicated": 4,
        "unpreferred_leaders_percent": 20,
        "topics_pending_deletion": 0,
        "partitions_reassigning": 0,
        "problems": 0,
        "groups": 1,
        "group_partitions_unowned": 2,
    }
    assert of(found, "check_failing", check="D1", severity="critical") == 1
    assert of(found, "check_failing", check="D8", severity="ok") == 0
    assert of(found, "check_acknowledged", check="D1") == 0
    assert of(found, "check_acknowledged", check="D8") is None
    assert of(found, "zxid") == 1000
    assert of(found, "mirror_stale") == 0
    age = of(found, "mirror_age_seconds")
    assert age is not None
    assert 0 <= age < 3
    assert [of(found, "mirror_phase", phase=phase.value) for phase in Phase].count(1) == 1
    assert of(found, "mirror_phase", phase="live") == 1
    assert found["process_resident_memory_bytes", ()] > 0
    assert found["zkdash_sockets", ()] == 0


def test_what_is_unknown_is_no_number(client: Client) -> None:
    states.publish(None, phase=Phase.CONNECTING)
    found = scrape(client)
    assert {name: of(found, name) for name in collector.FACTS} == dict.fromkeys(collector.FACTS)
    assert (of(found, "zxid"), of(found, "mirror_age_seconds"), of(found, "mirror_stale")) == (None, None, 1)
    assert (of(found, "queue_readable"), of(found, "actions", state="queued")) == (0, None)


def test_the_queue_is_counted_by_state_and_by_how_long_it_waits(client: Client) -> None:
    def entry(number: int, state: State, queued: int | None, not_before: int | None = None) -> Entry:
        return Entry(
            number, 1, "demo", "reassign", "orders", state, "alice", 0, queued=queued, not_before=not_before
        )

    now_ms = int(time.time() * 1000)
    entries = (
        entry(4, State.QUEUED, now_ms - 600_000, now_ms + 600_000),
        entry(3, State.QUEUED, now_ms - 60_000),
        entry(2, State.RUNNING, now_ms - 900_000),
        entry(1, State.DONE, now_ms - 900_000),
    )
    states.publish(states.healthy(), queue=Queue(entries=entries, read=True))
    found = scrape(client)
    assert of(found, "actions", state="queued") == 2
    assert of(found, "actions", state="running") == 1
    assert of(found, "actions", state="pending") == 0
    assert of(found, "queue_readable") == 1
    waited = of(found, "actions_oldest_queued_seconds")
    assert waited is not None
    assert 60 <= waited < 600


def _ensemble() -> None:
    """A cluster whose ZooKeeper has a leader, a server that is down, and one that may not tell."""
    told = Told("3.9.5", "leader", latency_avg=1.5, outstanding=3, synced_followers=1)
    look = Look(
        states.TIME / 1000,
        (
            Server("zk1:2181", Reach.SERVING, told=told),
            Server("zk2:2181", Reach.DOWN, "zk2:2181 does not answer"),
            Server("zk3:2181", Reach.NOT_ALLOWED),
        ),
    )
    snapshot = live.current("demo")
    assert snapshot is not None
    live.publish("demo", msgspec.structs.replace(snapshot, ensemble=Ensemble(look)))


def test_the_servers_of_zookeeper_are_told_and_of_whom_nothing_is_known_nothing(client: Client) -> None:
    states.publish(states.healthy())
    assert not any(name.startswith("zkdash_zookeeper") for name, _ in scrape(client))
    _ensemble()
    found = scrape(client)
    up = [of(found, "zookeeper_server_up", server=f"zk{number}:2181") for number in (1, 2, 3)]
    assert up == [1, 0, None]
    assert of(found, "zookeeper_server_mode", server="zk1:2181", mode="leader") == 1
    assert of(found, "zookeeper_outstanding_requests", server="zk1:2181") == 3
    assert of(found, "zookeeper_latency_avg_milliseconds", server="zk1:2181") == 1.5
    assert of(found, "zookeeper_synced_followers", server="zk1:2181") == 1
    assert of(found, "zookeeper_outstanding_requests", server="zk2:2181") is None


def test_topics_and_groups_are_labels_only_where_that_is_switched_on(
    client: Client, settings: Settings
) -> None:
    tree = {**states.sick(), **states.topic('odd\ud800\n"', {0: [1]}), **states.group("g", {})}
    states.publish(tree)
    labels = {name for _, pairs in scrape(client) for name, _ in pairs}
    assert labels == {"cluster", "phase"}
    settings.ZKDASH_METRICS_NAMES = True
    found = scrape(client)
    assert of(found, "topic_partitions_offline", topic="clicks") == 1
    assert of(found, "topic_partitions", topic='odd\\ud800\n"') == 1
    assert of(found, "group_unowned", group="g") == 0


def test_a_scrape_looks_at_no_topic_one_by_one(client: Client) -> None:
    """A cluster's maps may hold 10 000: whoever walked them here would fail."""

    class Forbidden(dict[str, Any]):
        def values(self) -> Any:
            raise AssertionError("topics are walked")

        items = __iter__ = values

    snapshot = states.publish(states.healthy())
    forbidden: Any = Forbidden(a=1)
    state = msgspec.structs.replace(
        snapshot.state, topics=forbidden, summaries=forbidden, groups=forbidden, group_summaries=forbidden
    )
    live.publish("demo", msgspec.structs.replace(snapshot, state=state))
    assert of(scrape(client), "topics") == 3


def test_metrics_are_for_who_may_see_the_cluster_unless_they_are_opened(
    client: Client, settings: Settings
) -> None:
    settings.ZKDASH_ANONYMOUS_READ = False
    for name in ("demo", "other"):
        states.publish(states.healthy(), name=name)
    answer = client.get("/metrics")
    assert (answer.status_code, json.loads(answer.content)) == (401, {"error": "Sign in to see this."})
    user = User.objects.create_user("alice")
    Grant.objects.create(user=user, role="viewer", clusters="other")
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    found = scrape(client)
    assert (of(found, "topics"), of(found, "topics", "other")) == (None, 3)
    settings.ZKDASH_METRICS_ANONYMOUS = True
    found = scrape(Client())
    assert (of(found, "topics"), of(found, "topics", "other")) == (3, 3)


def test_who_prefers_openmetrics_gets_it(client: Client) -> None:
    states.publish(states.healthy())
    answer = client.get("/metrics", headers={"Accept": "application/openmetrics-text;version=1.0.0"})
    assert answer["Content-Type"].startswith("application/openmetrics-text")
    names = {family.name for family in open_families(answer.content.decode())}
    assert {"zkdash_topics", "zkdash_frames"} <= names


def _run(state: pipeline_runs.State, **fields: Any) -> Run:
    now_ms = int(time.time() * 1000)
    blank = dict.fromkeys(("zxid_upto", "lag_ms", "started_ms", "ended_ms"))
    usual = {"id": 1, "job": "all", "state": state, "by": "worker", "queued_ms": now_ms, "rows": 1}
    return Run(**{"problems": 0, "progress": 0, "sentence": "", **usual, **blank, **fields})


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Has the runs of the cluster read as these; forgets them."""
    polled = engine.polled().runs
    yield lambda *given: polled.hold("demo", given)
    polled._forget()


def test_what_is_recorded_and_derived_is_told_with_its_age(
    client: Client, settings: Settings, tmp_path: Path, runs: Callable[..., None]
) -> None:
    settings.ZKDASH_HISTORY = tmp_path
    states.publish(states.healthy())
    names = ("recorder_age_seconds", "recorder_failing", "pipeline_delay_seconds", "pipeline_failing")
    assert [of(scrape(client), name) for name in names] == [None] * 4
    now_ms = int(time.time() * 1000)
    (tmp_path / "demo").mkdir()
    status.keep(tmp_path / "demo", status.Status("demo", 1, seen_ms=now_ms - 7_000))
    ended = {"ended_ms": now_ms - 60_000, "lag_ms": 5_000}
    runs(_run(pipeline_runs.State.FAILED, id=2), _run(pipeline_runs.State.DONE, **ended))
    found = scrape(client)
    assert of(found, "recorder_age_seconds") == pytest.approx(7, abs=5)
    assert of(found, "pipeline_delay_seconds") == pytest.approx(65, abs=5)
    assert (of(found, "recorder_failing"), of(found, "pipeline_failing")) == (0, 1)
    status.keep(tmp_path / "demo", status.Status("demo", 1, seen_ms=now_ms, sentence="the disk is full"))
    assert of(scrape(client), "recorder_failing") == 1


def test_renderings_are_counted_with_what_they_took(client: Client) -> None:
    async def render() -> None:
        await renders.Renders().run(("ann",), lambda: sum(range(100_000)))

    before = scrape(client)
    asyncio.run(render())
    after = scrape(client)
    more = {
        name: after[f"zkdash_{name}_total", ()] - before[f"zkdash_{name}_total", ()]
        for name in ("renders", "render_seconds")
    }
    assert more["renders"] == 1
    assert 0 < more["render_seconds"] < 5
    assert after["zkdash_renders_waiting", ()] == 0


def _told(client: Client, settings: Settings, tmp_path: Path, runs: Callable[..., None]) -> set[str]:
    """Every name that the page can hold."""
    settings.ZKDASH_HISTORY = tmp_path
    (tmp_path / "demo").mkdir()
    status.keep(tmp_path / "demo", status.Status("demo", 1, seen_ms=1))
    runs(_run(pipeline_runs.State.DONE, ended_ms=1, lag_ms=1))
    settings.ZKDASH_METRICS_NAMES = True
    finding = Finding("D1", Severity.CRITICAL, "", 1, "topics", "", 0.0, "")
    tree = {**states.sick(), **states.group("g", {})}
    states.publish(tree, findings=(finding,), queue=Queue(read=True))
    _ensemble()
    return {name for name, _ in scrape(client)}


def _rules() -> list[dict[str, Any]]:
    document = yaml.safe_load((DOCS / "alerts.yml").read_text())
    return [rule for group in document["groups"] for rule in group["rules"]]


def _expressions() -> list[str]:
    dashboard = json.loads((DOCS / "grafana.json").read_text())
    return [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]


@pytest.mark.parametrize(
    "expressions", [lambda: [rule["expr"] for rule in _rules()], _expressions], ids=["alerts", "grafana"]
)
def test_rules_and_dashboard_name_only_metrics_that_exist(
    client: Client,
    settings: Settings,
    tmp_path: Path,
    runs: Callable[..., None],
    expressions: Callable[[], list[str]],
) -> None:
    told, named = _told(client, settings, tmp_path, runs), set()
    for expression in expressions():
        names = set(re.findall(r"\b(?:zkdash|process)_\w+", expression))
        assert names, expression
        named |= names
    assert named <= told
    assert len(named) >= 8


def test_every_metric_is_told(
    client: Client, settings: Settings, tmp_path: Path, runs: Callable[..., None]
) -> None:
    page = (DOCS / "api.md").read_text().partition("## Metrics")[2]
    families = {name for name in _told(client, settings, tmp_path, runs) if name.startswith("zkdash_")}
    untold = {
        name
        for name in families
        if f"`{name}" not in page and f"`…{name.removeprefix('zkdash_topic_partitions')}" not in page
    }
    assert untold == set()


def test_every_rule_says_what_it_is_about_and_what_to_do() -> None:
    rules = _rules()
    assert len({rule["alert"] for rule in rules}) == len(rules) >= 8
    for rule in rules:
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
        assert rule["labels"]["severity"] in {"critical", "warning"}
        assert re.fullmatch(r"\d+[smh]", rule["for"])
        assert "{{ $labels.cluster }}" in rule["annotations"]["summary"]
        assert rule["annotations"]["description"]
