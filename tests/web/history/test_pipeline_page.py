"""The Pipeline page, and a run that is asked for by its button."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import Settings

from tests.history.writing import put, spoil
from tests.web import states
from tests.web.markup import Markup
from zkdash import live
from zkdash.access.models import Grant
from zkdash.actions.models import Audit
from zkdash.configuration.log_dirs import LogDirs
from zkdash.history.recorder import status
from zkdash.history.recorder.status import Status
from zkdash.history.store import derived_columns
from zkdash.live import engine
from zkdash.live.parts import PageKey
from zkdash.pipeline import runs
from zkdash.pipeline.runs import Run, State
from zkdash.web.history import run_reading
from zkdash.web.serving import renderer
from zkdash.zk.config import ClusterConfig

URL = "/c/demo/pipeline/"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def history(tmp_path: Path, settings: Settings) -> Iterator[Path]:
    """A cluster with a source, on the board, and where its tables lie."""
    settings.ZKDASH_HISTORY = tmp_path
    settings.ZKDASH_CLUSTERS = (
        ClusterConfig("demo", (("127.0.0.1", 1),), transaction_logs=("/var/lib/zookeeper",)),
        ClusterConfig("bare", (("127.0.0.1", 1),)),
    )
    states.publish(states.healthy())
    engine.configure(engine.Engine((), renderer.Renderer(), recent=run_reading.recent))
    yield tmp_path / "demo"
    engine.configure(None)


@pytest.fixture
def operator() -> Client:
    user = User.objects.create_user("ann")
    Grant.objects.create(user=user, role="operator")
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def page() -> Markup:
    return Markup(Client().get(URL))


def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Client().get(f"{URL}?format=json").content)
    return found


def done(**how: Any) -> Run:
    run = runs.begin("demo", "all", "ann")
    assert runs.finish(run, "41 rows of 3 files", rows=41, **how)
    return run


def test_without_a_run_every_job_is_told_and_where_the_source_is() -> None:
    found = page()
    assert found.texts("#jobs-rows th") == list(runs.JOBS)
    assert found.text("#runs-rows") == "No run was asked for yet."
    assert "/var/lib/zookeeper" in found.text("#facts")
    assert "unknown: no run has read the source yet" in found.text("#facts")
    assert found.text("#unread-rows") == "Everything that was read could be read whole."


def test_a_cluster_without_a_source_says_how_to_name_one() -> None:
    states.publish(states.healthy(), name="bare")
    found = Markup(Client().get("/c/bare/pipeline/"))
    assert "name ZooKeeper’s dataLogDir as transaction_logs" in found.text("p.note")


def test_where_only_zkdash_itself_records_the_page_says_so_and_a_run_can_be_asked_for(
    history: Path, operator: Client
) -> None:
    states.publish(states.healthy(), name="bare")
    below = history.parent / "bare"
    below.mkdir()
    status.keep(below, Status("bare", 1, seen_ms=1, wrote_ms=1, rows=3, zxid_upto=7))
    found = Markup(Client().get("/c/bare/pipeline/"))
    assert "what zkdash records" in found.text("#facts")
    assert "its tables hold what zkdash saw while it recorded" in found.text("p.note")
    assert "No source" not in found.text("main")
    assert (
        json.loads(Client().get("/c/bare/pipeline/?format=json").content)["source"] == "what zkdash records"
    )
    assert operator.post("/c/bare/pipeline/run/", {"job": "all"}).status_code == 303


def test_where_only_segments_of_kafka_are_configured_they_are_the_source(settings: Settings) -> None:
    directories = (LogDirs(directories=("/data/kafka",)),)
    settings.ZKDASH_CLUSTERS = (ClusterConfig("demo", (("127.0.0.1", 1),), segments=directories),)
    found = page()
    assert "/data/kafka" in found.text("#facts")
    assert "not told: no transaction logs of ZooKeeper are configured" in found.text("#facts")
    assert "what changed in ZooKeeper is not told of" in found.text("p.note")


def test_a_run_is_told_with_its_rows_its_seconds_and_how_far_it_came() -> None:
    run = done(problems=2, zxid_upto=900)
    (row,) = document()["rows"]
    assert row["id"] == run.id
    assert (row["job"], row["by"], row["rows"], row["problems"]) == ("all", "ann", 41, 2)
    assert row["zxid_upto"] == "0x384"
    assert row["sentence"] == "41 rows of 3 files"
    assert "the newest run is done" in page().text("#facts")


@pytest.mark.parametrize(
    ("upto", "said"),
    [(1000, "under 10 transactions"), (900, "over 100 transactions"), (100, "over 900 transactions")],
)
def test_how_far_the_tables_are_behind_is_told_against_the_live_cluster(upto: int, said: str) -> None:
    done(zxid_upto=upto)
    assert said in page().text("#facts")


def test_an_earlier_epoch_is_not_counted_in_transactions() -> None:
    done(zxid_upto=1 << 33)
    assert "more than one epoch" in page().text("#facts")


def test_tables_and_what_could_not_be_read_are_told(history: Path) -> None:
    torn = {"file": "log.7", "offset": 99, "reason": "half a record", "torn": True}
    bad = {"file": "log.3", "offset": 12, "reason": "<b>checksum</b>", "torn": False}
    put(history, "problems", [torn, bad])
    found = page()
    assert found.texts("#unread-rows th") == ["log.3", "log.7"]
    assert found.texts("#unread-rows tr")[0] == "log.312<b>checksum</b>damaged"
    held = {one["name"]: one["rows"] for one in document()["tables"]}
    assert (held["problems"], held["timeline"]) == (2, 0)
    spoil(history, "timeline")
    assert any("unknown" in row for row in page().texts("#held-rows tr"))


def test_an_operator_queues_a_run_and_the_audit_tells_it(operator: Client) -> None:
    assert "Run now" in Markup(operator.get(URL)).text("form.verbs button")
    answer = operator.post(f"{URL}run/", {"job": "load"})
    assert (answer.status_code, answer["Location"]) == (303, URL)
    run = Run.objects.get()
    assert (run.job, run.state, run.by) == ("load", State.QUEUED, "ann")
    (told,) = Audit.objects.filter(event="pipeline-run")
    assert (told.cluster, told.who) == ("demo", "ann")
    assert "queued" in Markup(operator.get(URL)).text("#runs-rows")


def test_asked_twice_there_is_one_run(operator: Client) -> None:
    for _ in range(2):
        assert operator.post(f"{URL}run/", {"job": "all"}).status_code == 303
    assert Run.objects.count() == 1


def test_who_may_only_look_has_no_button() -> None:
    assert page().all("form.verbs") == []
    assert Client().post(f"{URL}run/", {"job": "all"}).status_code == 401
    assert not Run.objects.exists()


def test_no_such_job_and_no_source_are_sentences(operator: Client) -> None:
    answer = operator.post(f"{URL}run/", {"job": "stream"})
    assert answer.status_code == 409
    assert "there is no job 'stream' to queue" in Markup(answer).text("p.note")
    states.publish(states.healthy(), name="bare")
    answer = operator.post("/c/bare/pipeline/run/", {"job": "all"})
    assert answer.status_code == 409
    assert "Nothing was queued" in Markup(answer).texts("p.note")[0]
    assert not Run.objects.exists()


def test_an_open_page_hears_of_a_run_from_its_first_second_to_its_end() -> None:
    key = PageKey("demo", "pipeline")
    snapshot = live.current("demo")
    assert snapshot is not None
    polled = engine.polled().runs
    renderer.Renderer().keep_alive(key)

    def words() -> str:
        polled.turn()
        view = renderer.look(snapshot, key)
        return " ".join(renderer.html(part) for part in view.parts)

    assert "No run was asked for yet." in words()
    run = runs.begin("demo", "all", "ann")
    assert "all is running: 0 %" in words()
    runs.tell(run, sentence="deriving timeline", progress=40)
    assert "deriving timeline" in words()
    runs.finish(run, "its last sentence", rows=3)
    assert "its last sentence" in words()


def test_nobody_looking_costs_no_query(django_assert_num_queries: Any) -> None:
    polled = engine.polled().runs
    with django_assert_num_queries(0):
        polled.turn()
    polled.want("demo")
    with django_assert_num_queries(1):
        polled.turn()


def test_equal_runs_are_no_news() -> None:
    done()
    polled = engine.polled().runs
    polled.want("demo")
    polled.turn()
    before = polled.current("demo")
    polled.turn()
    assert polled.current("demo") is before


def test_it_leads_to_the_rows_of_each_derived_table() -> None:
    hrefs = [link.get("href") for link in page().all("#held-rows a")]
    assert hrefs == [f"/c/demo/tables/{name}/" for name in derived_columns.COLUMNS if name != "timeline"]
