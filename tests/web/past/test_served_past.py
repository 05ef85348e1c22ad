"""`?at=` of a real `serve`: pages as they were, told by a process of its own that nobody else notices."""

from __future__ import annotations

import contextlib
import datetime
import itertools
import json
import os
import re
import shutil
import signal
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from django.test import Client
from lxml import html

from tests import everywhere, full, processes
from tests.conftest import Chroot
from tests.history.recorder.test_recorder import rows
from tests.history.writing import put
from tests.lab.s3 import Bucket
from tests.live.past import story
from tests.live.past.story import Dump
from tests.management.test_rights import in_database, signed_in
from tests.serving import Answer, Served, starter
from tests.waiting import wait_for
from tests.world import World
from zkdash import live
from zkdash.cluster.checks import Thresholds
from zkdash.configuration.limits import Limits
from zkdash.history.queries.neighbours import Instant
from zkdash.history.recorder import arrow_rows
from zkdash.history.recorder.recorder import FLUSH_S
from zkdash.history.store import files, watching
from zkdash.history.store.delta import Table
from zkdash.live.past import playback
from zkdash.live.tree.znodes import Znodes
from zkdash.management.supervising import COMMAND
from zkdash.rewind.rewinder import Rewinder
from zkdash.rewind.wire import Question
from zkdash.web import pages
from zkdash.web.frame import links
from zkdash.web.frame.page import Page
from zkdash.web.past.replaying import NowAlone
from zkdash.znode import Znode

pytestmark = pytest.mark.zk

CLUSTER: Final = "default"
HOME: Final = f"/c/{CLUSTER}/"
PAST: Final = [page for page in pages.PAGES if not page.no_past]
# What an answer says of when it was made, and by which process.
HEAD: Final = {"revision", "zxid", "as_of", "stale", "past", "address"}
# What only who saw it come knows: by page, the fields of JSON; "" is each.
STORY: Final[Mapping[str, frozenset[str]]] = {
    "overview": frozenset({"rows", "total", "causes", "incidents"}),
    "checks": frozenset({"rows", "total"}),
    "groups": frozenset({"state"}),
    "group": frozenset({"rebalancing"}),
}


class Told:
    """A served cluster whose story was recorded, and the story's dumps."""

    def __init__(self, server: Served, dumps: list[Dump], history: Path, address: str) -> None:
        self.server, self.dumps, self.history, self.address = server, dumps, history, address

    def get(self, path: str, at: str | int, **headers: str) -> Answer:
        return self.server.get(asking(path, at), **headers)

    def json(self, path: str, at: str | int) -> Any:
        answer = self.get(path, at, Accept="application/json")
        assert answer.status in {200, 404}, f"{path}: {answer.text[:500]}\n{self.server.printed()}"
        return json.loads(answer.body)

    def named(self, name: str) -> Dump:
        return next(each for each in self.dumps if each.name == name)


def children(pid: int) -> list[int]:
    """The processes that a process has started and that are not ended."""
    return [child for child in processes.children(pid) if processes.is_running(child)]


def teller(server: Served) -> int:
    """The process that tells the past."""
    (pid,) = children(server.pid)
    return pid


@contextlib.contextmanager
def serving(told: Told, below: Path, limits: str = "", **settings: str) -> Iterator[Served]:
    """Another process that serves the same cluster."""
    below.mkdir()
    config = below / "zkdash.toml"
    config.write_text(f'[clusters.{CLUSTER}]\nzookeeper = "{told.address}"\n{limits}')
    with starter(below) as start:
        server = start(ZKDASH_CONFIG=config, ZKDASH_HISTORY=told.history, options=["--no-record"], **settings)
        yield server


def asking(path: str, at: str | int) -> str:
    moment = at if isinstance(at, str) else f"zxid:{at}"
    return f"{path}{'&' if '?' in path else '?'}at={moment}"


@pytest.fixture(scope="module")
def told(shared_chroot: Chroot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    below = tmp_path_factory.mktemp("past")
    with story.served(shared_chroot, below, CLUSTER) as (server, dumps):
        yield Told(server, dumps, below / "history", shared_chroot.address)


def addresses(dump: Dump, page: Page) -> Iterator[str]:
    if "<" not in page.route:
        yield HOME + page.route
        return
    znodes = {"/": dump.znodes["/brokers"], **dump.znodes}
    yield from (everywhere.address(CLUSTER, page, name) for name in everywhere.details(page, znodes))


def of_dump(dump: Dump, path: str, client: Client, at: str) -> Any:
    """The page that the dump alone makes, read at the moment's time."""
    at_ms = int(datetime.datetime.fromisoformat(at).timestamp() * 1000)
    live.publish(CLUSTER, playback.begin(CLUSTER, "", dump.znodes, Instant(dump.zxid, at_ms), Thresholds()))
    live.lend(CLUSTER, Znodes(lambda: dump.znodes, NowAlone()))
    return json.loads(client.get(path, headers={"Accept": "application/json"}).content)


def without(told: Any, names: frozenset[str]) -> Any:
    """What JSON tells, but for fields of some names, and for the moment that addresses in it keep to."""
    if isinstance(told, dict):
        return {name: without(value, names) for name, value in told.items() if name not in names}
    if isinstance(told, str) and told.startswith("/c/"):
        return re.sub(r"[?&]at=[^&]*$", "", told)
    return [without(value, names) for value in told] if isinstance(told, list) else told


def apart(was: Any, then: Any, at: str = "") -> dict[str, tuple[Any, Any]]:
    """What two answers differ in, by where it stands: "rows.3.name"."""
    if isinstance(was, dict) and isinstance(then, dict) and was.keys() == then.keys():
        names: Iterable[Any] = was
    elif isinstance(was, list) and isinstance(then, list) and len(was) == len(then):
        names = range(len(was))
    else:
        return {} if was == then else {at: (was, then)}
    parts = (apart(was[name], then[name], f"{at}.{name}") for name in names)
    return {where: both for part in parts for where, both in part.items()}


def check_pages(
    told: Told, dump: Dump, client: Client, but_for: Mapping[str, frozenset[str]] = STORY
) -> set[str]:
    """See that every page is as the dump has it, but for what is so named; by whom they were told."""
    tellers = set()
    for page in PAST:
        names = but_for.get("", frozenset()) | but_for.get(page.name, frozenset()) | HEAD
        for path in addresses(dump, page):
            was = told.json(path, dump.zxid)
            assert was["past"]["zxid"] == dump.zxid
            then = of_dump(dump, path, client, was["past"]["at"])
            assert apart(without(was, names), without(then, names)) == {}, f"{dump.name}: {path}"
            tellers.add(was["past"]["recorded_by"])
    return tellers


def test_every_page_is_as_it_was_read_then(told: Told, client: Client) -> None:
    for dump in full.pick(told.dumps[1::4], told.dumps):
        assert check_pages(told, dump, client) == {"recorder"}


def test_what_happened_before_and_its_cause_are_told_too(told: Told) -> None:
    was = told.json(HOME, told.named("elected anew").zxid)
    assert was["causes"][0]["title"] == "Broker 2 is gone"
    assert was["incidents"][0]["effects"] == ["1 leader moved to 1", "1 replica left the ISR, 1 came back"]
    assert told.json(f"{HOME}topics/payments/", told.named("topic deleted").zxid)["error"]
    assert told.json(f"{HOME}topics/payments/", told.named("topic made anew").zxid)["total"] == 2


def test_a_page_of_the_past_says_so_and_keeps_to_it(told: Told) -> None:
    zxid = told.named("broker gone").zxid
    at = f"zxid:0x{zxid:x}"
    for path in (HOME, f"{HOME}topics/?q=orders", f"{HOME}groups/billing/", f"{HOME}znodes/brokers/ids/1"):
        answer = told.get(path, zxid)
        assert answer.status == 200
        page = html.fromstring(answer.text)
        assert "past" in page.xpath("//body/@class")
        assert page.xpath("//title")[0].text.startswith("As of 20")
        assert f"after transaction 0x{zxid:x}" in page.xpath("//*[@id='time-bar']")[0].text_content()
        (other,) = page.xpath("//*[@id='switch']//a/@href")
        assert re.fullmatch(r"/c/elsewhere/.*[?&]at=20\d\d-[^&]*Z", other)
        assert not page.xpath("//*[@id='socket']")
        assert not page.xpath("//form[@method='post']")
        (now,) = page.xpath("//a[@class='now']/@href")
        assert now == path
        for href in page.xpath(f"//a[starts-with(@href, '{HOME}') and not(@class='now')]/@href"):
            kind = href.removeprefix(HOME).partition("?")[0].partition("/")[0]
            has_past = kind in {page.route.partition("/")[0] for page in PAST} | {"znode-data"}
            assert ("at=" in href) == has_past, href
            assert "/new/" not in href
        for form in page.xpath("//form[@method='get']"):
            assert form.xpath("input[@name='at']/@value") == [at]
    (znode,) = told.json(f"{HOME}search/?q=/brokers/ids/1&limit=1", zxid)["rows"][:1]
    assert znode["address"].endswith(f"at={at.replace(':', '%3A')}")
    moved = told.get(f"{HOME}search/?q=orders", zxid)
    assert b"time-bar" in moved.body  # the topic itself, where the search led


def test_its_bar_leads_from_change_to_change_and_to_other_times(told: Told) -> None:
    gone, elected = told.named("broker gone"), told.named("elected anew")
    page = html.fromstring(told.get(HOME, gone.zxid).text)
    ways = {link.text: link.get("href") for link in page.xpath("//*[@id='time-bar']//a")}
    assert {"Previous change", "Next change", "−1 m", "Now"} <= ways.keys()
    after = json.loads(told.server.get(HOME + ways["Next change"], Accept="application/json").body)
    assert gone.zxid < after["past"]["zxid"] <= elected.zxid
    back = after["past"]["previous"]
    assert told.json(HOME, back)["past"]["zxid"] <= gone.zxid


def check_differences(told: Told, before: Dump, after: Dump) -> None:
    """See that what differs between two moments is what their dumps differ in."""
    answer = told.json(f"{HOME}differences/znodes/?from=zxid:{before.zxid}&size=1000", after.zxid)
    assert (answer["from"]["zxid"], answer["at"]["zxid"]) == (before.zxid, after.zxid)
    apart = {row["path"]: (row["before"], row["after"]) for row in answer["rows"]}
    assert apart == {
        path: (text(was), text(now))
        for path in sorted({*before.znodes, *after.znodes})
        for was, now in [(before.znodes.get(path), after.znodes.get(path))]
        if identity(was) != identity(now)
    }, f"{before.name} to {after.name}"


def test_the_differences_of_two_moments_are_those_of_their_dumps(told: Told) -> None:
    pairs = [*itertools.combinations(told.dumps, 2)]
    for before, after in full.pick(pairs[::7], pairs):
        check_differences(told, before, after)


def identity(znode: Znode | None) -> object:
    """What makes a znode another one, beside what only its children change."""
    return znode and (znode.czxid, znode.stat.aversion, znode.data)


def text(znode: Znode | None) -> str | None:
    return znode.data.decode() if znode is not None and znode.data is not None else None


def test_differences_are_told_in_words_by_area_and_from_then_to_the_newest(told: Told) -> None:
    came, gone = told.named("group came"), told.named("broker gone")
    path = f"{HOME}differences/?from=zxid:{came.zxid}"
    rows = {row["what"]: (row["before"], row["after"]) for row in told.json(path, gone.zxid)["rows"]}
    assert rows["the config of topic orders changed"] == (None, "retention.ms=1000")
    assert rows["topic payments was created"] == (None, "1 partition")
    assert any(what.startswith("broker 2 ") for what in rows)
    only = told.json(f"{path}&area=topics&q=payments", gone.zxid)
    assert [row["what"] for row in only["rows"]] == ["topic payments was created"]
    newest = json.loads(told.server.get(path, Accept="application/json").body)
    assert newest["at"]["zxid"] >= told.dumps[-1].zxid
    assert "of group billing 1 partition lost their owner" in {row["what"] for row in newest["rows"]}


@pytest.mark.parametrize("place", ["a directory", "an object store"])
def test_the_newest_moment_is_written_when_somebody_asks_for_it(
    chroot: Chroot, tmp_path: Path, bucket: Bucket, place: str
) -> None:
    history: Mapping[str, Any] = {"ZKDASH_HISTORY": tmp_path / "history"}
    if place == "an object store":
        history = {**bucket.environment, "ZKDASH_HISTORY": f"{bucket.url}/served"}
    world = World(chroot.client, chroot.address)
    world.topic("orders", {0: [1]})
    with starter(tmp_path) as start:
        server = start(ZKDASH_ZOOKEEPER=chroot.address, **history)
        server.wait_until_loaded()
        latest = asking(f"{HOME}topics/", "latest")
        wait_for(lambda: server.get(latest).status == 200, limit_s=180.0)

        def shows(name: str) -> bool:
            return name in server.get(latest).text

        began = time.monotonic()
        for name in ("payments", "refunds", "invoices"):
            world.topic(name, {0: [1]})
            wait_for(partial(shows, name), limit_s=180.0)
        # by itself the recorder writes once in so many seconds, and what came after a write in the next one
        assert time.monotonic() - began < 2 * FLUSH_S
    world.close()


def test_moments_the_wrong_way_round_lead_to_the_right_one(told: Told) -> None:
    came, gone = told.named("group came"), told.named("broker gone")
    answer = told.get(f"{HOME}differences/?from=zxid:{gone.zxid}", came.zxid)
    assert answer.status == 400
    (way,) = html.fromstring(answer.text).xpath("//a[contains(., 'other way')]/@href")
    assert told.server.get(f"{HOME}differences/{way}").status == 200


def test_the_bar_draws_what_changed_and_leads_there(told: Told) -> None:
    deleted = told.named("topic deleted")
    answer = told.get(HOME, f"zxid:{deleted.zxid}&width=6h").text
    page = html.fromstring(answer)
    line = page.xpath("//*[@id='time-bar']//svg")[0]
    drawn = sum(int(count) for count in line.xpath(".//rect[@class='fill']/@data-changes"))
    listed = page.xpath("//*[@id='time-bar']//details//a")
    words = [re.search(r", (\d+) changes?", link.text) for link in listed]
    assert sum(int(each[1]) for each in words if each) == drawn
    changes = [
        row
        for row in rows(told.history / CLUSTER)
        if row["path"] is not None and not row["path"].startswith("/consumers/billing/offsets/")
    ]
    assert drawn == len(changes)
    assert line.xpath(".//rect[@class='flag gone']")
    assert line.xpath(".//rect[@class='unknown']")  # hours of which nothing is recorded
    assert told.server.get(HOME + listed[-1].get("href")).status == 200
    assert page.xpath("//*[@id='time-bar']//a[@aria-current]/text()") == ["6h"]
    assert all("width=6h" in href for href in page.xpath("//*[@id='nav']//a/@href") if "at=" in href)


def test_the_next_change_is_one_of_what_the_page_is_about(told: Told) -> None:
    moved, made = told.named("leader moved"), told.named("topic made")
    following = {
        path: int(told.json(f"{HOME}{path}", moved.zxid)["past"]["next"].removeprefix("zxid:"), 0)
        for path in ("", "topics/orders/", "groups/billing/", "brokers/2/", "znodes/brokers/topics/payments")
    }
    paths = {
        zxid: {row["path"] for row in rows(told.history / CLUSTER) if row["zxid_upto"] == zxid}
        for zxid in following.values()
    }
    assert following[""] == min(following.values())
    assert moved.zxid < following[""] < made.zxid
    for path, part in (
        ("topics/orders/", "/orders"),
        ("groups/billing/", "/consumers/billing"),
        ("brokers/2/", "/brokers/ids/2"),
        ("znodes/brokers/topics/payments", "/brokers/topics/payments"),
    ):
        assert any(part in each for each in paths[following[path]]), path


def test_csv_and_the_data_of_a_znode_are_of_the_moment(told: Told) -> None:
    before, after = told.named("group came"), told.named("config changed")
    path = f"{HOME}znode-data/config/topics/orders"
    assert told.get(path, after.zxid).body == b'{"version": 1, "config": {"retention.ms": "1000"}}'
    assert told.get(path, before.zxid).body != told.get(path, after.zxid).body
    rows = told.get(f"{HOME}brokers/?format=csv", told.named("topic made").zxid).text.splitlines()
    assert [row.partition(",")[0] for row in rows[1:]] != []
    assert len(rows) == len(told.get(f"{HOME}brokers/?format=csv", after.zxid).text.splitlines())


@pytest.mark.parametrize(
    ("at", "status", "sentence"),
    [
        ("yesterday", 400, "“yesterday” is no moment. Write at=2026-11-20T10:42Z, -15m"),
        ("2026-13-01T00:00Z", 400, "is no moment"),
        ("2999-01-01T00:00Z", 404, "What was then cannot be told: it is recorded up to 20"),
        ("zxid:0x7fffffffffffffff", 404, "What was then cannot be told: .* up to 0x"),
        ("2016-01-01T00:00Z", 404, "What was then cannot be told: nothing is recorded before 20"),
        ("-1s", 404, "What was then cannot be told: it is recorded up to 20"),
    ],
)
def test_what_cannot_be_told_is_a_sentence(told: Told, at: str, status: int, sentence: str) -> None:
    answer = told.get(f"{HOME}topics/", at, Accept="application/json")
    assert answer.status == status
    assert re.search(sentence, json.loads(answer.body)["error"])


@pytest.mark.parametrize("page", [page for page in pages.PAGES if page.no_past], ids=lambda page: page.name)
def test_a_page_without_a_past_says_why(told: Told, page: Page) -> None:
    for path in addresses(told.dumps[0], page):
        answer = told.get(path, told.dumps[0].zxid, Accept="application/json")
        assert (answer.status, json.loads(answer.body)["error"]) == (400, page.no_past)


def test_the_list_of_clusters_has_no_past(told: Told) -> None:
    assert told.get("/", "-15m").status == 400


def test_one_that_is_killed_or_stopped_harms_only_who_asks(told: Told) -> None:
    zxid = told.dumps[0].zxid
    assert told.get(HOME, zxid).status == 200
    os.kill(teller(told.server), signal.SIGKILL)
    answer = told.get(HOME, zxid)
    if answer.status == 503:  # it was asked before its end was seen
        assert "killed by signal 9" in answer.text
        answer = told.get(HOME, zxid)
    assert answer.status == 200
    os.kill(teller(told.server), signal.SIGSTOP)
    assert told.server.json(HOME)["cluster"] == CLUSTER
    os.kill(teller(told.server), signal.SIGCONT)
    assert told.get(HOME, zxid).status == 200


def test_whoever_else_wants_the_processor_gets_it_first(told: Told) -> None:
    assert told.get(HOME, told.dumps[0].zxid).status == 200
    pid = teller(told.server)
    threads = [int(each.name) for each in Path(f"/proc/{pid}/task").iterdir()]
    assert {os.sched_getscheduler(thread) for thread in threads} == {os.SCHED_BATCH}
    served = os.getpriority(os.PRIO_PROCESS, told.server.pid)
    nicest = min(served + 5, 19)
    assert {os.getpriority(os.PRIO_PROCESS, thread) for thread in threads} == {nicest}


def test_it_reserves_no_memory_that_it_does_not_use(told: Told) -> None:
    """`past_bytes` counts it: Arrow's own allocator would take half of that for a small cluster."""
    assert told.get(HOME, told.dumps[0].zxid).status == 200
    status = Path(f"/proc/{teller(told.server)}/status").read_text()
    (reserved_kb,) = re.findall(r"^VmData:\s+(\d+) kB", status, re.MULTILINE)
    assert int(reserved_kb) * 1024 < Limits().past_bytes / 4


def test_limits_of_memory_and_time_are_sentences_and_it_ends_when_idle(told: Told, tmp_path: Path) -> None:
    cases = (
        ("past_bytes = 30000000", r"needs more memory|ended \("),
        ("past_s = 0.1", "took longer than 0.1 s"),
    )
    for number, (limit, sentence) in enumerate(cases):
        with serving(told, tmp_path / str(number), f"[limits]\n{limit}\n") as server:
            server.wait_until_loaded()
            answer = server.get(asking(HOME, told.dumps[0].zxid))
            assert answer.status == 503
            assert re.search(sentence, answer.text)
            wait_for(lambda: server.json(HOME)["stale"] is False)
    with serving(told, tmp_path / "idle", "[limits]\npast_idle_s = 0.5\n") as server:
        assert server.get(asking(HOME, told.dumps[0].zxid)).status == 200
        wait_for(lambda: not children(server.pid))
        assert server.get(asking(HOME, told.dumps[0].zxid)).status == 200


def test_it_needs_no_room_on_the_disk(told: Told, tmp_path: Path) -> None:
    """The kernel lets no file of the process that tells it grow, as on a full disk."""
    environment = {
        "ZKDASH_DATA": str(tmp_path / "data"),
        "ZKDASH_HISTORY": str(told.history),
        "ZKDASH_ZOOKEEPER": told.address,
        "ZKDASH_ANONYMOUS_READ": "1",
    }
    with serving(told, tmp_path / "open", ZKDASH_DATA=str(tmp_path / "data")) as server:
        rewinder = Rewinder(["prlimit", "--fsize=0", *COMMAND], Limits(), environment)
        try:
            headers = {"HOST": "localhost", "ACCEPT": "application/json"}
            query = f"at=zxid:{told.dumps[0].zxid}"
            answer = rewinder.ask(Question("GET", HOME, query, "http", "127.0.0.1", headers))
        finally:
            rewinder.stop()
        wait_for(lambda: server.json(HOME)["stale"] is False)
    assert answer.status == 200
    assert json.loads(answer.body)["past"]["zxid"] == told.dumps[0].zxid


def test_a_hole_in_what_is_recorded_is_a_sentence_and_leads_to_both_of_its_ends(
    told: Told, tmp_path: Path
) -> None:
    history = tmp_path / "history"
    shutil.copytree(told.history, history)
    intervals = sorted(rows(history / CLUSTER, watching.NAME), key=lambda row: row["from_ms"])
    ends, begins = intervals[0], intervals[-1]
    assert ends["to_ms"] < begins["from_ms"]
    later = [row for row in rows(history / CLUSTER) if row["time"] >= begins["from_ms"]]
    for name in (watching.NAME, "changes"):
        shutil.rmtree(history / CLUSTER / name)
    put(history / CLUSTER, "changes", later)
    settled = begins["zxid_from"] - 1
    checkpoint = arrow_rows.of_znodes(told.dumps[-1].znodes, settled, settled)
    files.append(Table(history / CLUSTER / "znodes_checkpoint"), checkpoint)
    gap = {"why": "the connection was lost", "is_caught_up": False}
    put(history / CLUSTER, watching.NAME, [ends, begins | gap])
    holed = Told(told.server, told.dumps, history, told.address)
    with serving(holed, tmp_path / "holed") as server:
        server.wait_until_loaded()
        within = (ends["to_ms"] + begins["from_ms"]) // 2
        answer = server.get(asking(f"{HOME}topics/", links.at_time(within)))
        assert answer.status == 404
        page = html.fromstring(answer.text)
        (sentence,) = page.xpath("//main//p[contains(., 'cannot be told')]")
        assert re.search("nothing is recorded between .*: the connection was lost", sentence.text_content())
        near = [href for href in page.xpath("//main//a/@href") if "at=" in href]
        assert [server.get(f"{HOME}topics/{href}").status for href in near] == [200, 200]
        wait_for(lambda: server.json(f"{HOME}topics/")["stale"] is False)


def test_why_a_partition_is_as_it_is_is_told_of_then(told: Told) -> None:
    elected, gone = told.named("elected anew"), told.named("broker gone")
    path = f"{HOME}why/?topic=orders&partition=0"
    newest, *older = told.json(path, elected.zxid)["rows"]
    assert newest["incident"] == "Broker 2 is gone"
    assert (newest["before"], newest["after"]) in {("2", "1"), ("2", "1, 2"), (None, "1")}
    assert "partition orders-0 leader moved from broker 1 to 2" in {row["what"] for row in older}
    page = html.fromstring(told.get(path, elected.zxid).text)
    (before,) = page.xpath("(//*[@id='kept']//a[text()='before'])[1]/@href")
    assert told.server.get(before).status == 200
    assert told.json(path, gone.zxid)["rows"] != []


def test_moments_to_compare_lead_from_a_page_to_what_differs_of_it(told: Told) -> None:
    came, made = told.named("group came"), told.named("topic made")
    path = f"{HOME}topics/orders/?from=zxid:{came.zxid}"
    answer = told.json(path, made.zxid)  # redirects are followed
    assert answer["page"] == "differences"
    assert [row["what"] for row in answer["rows"]] == ["the config of topic orders changed"]
    page = html.fromstring(told.get(f"{HOME}topics/orders/", came.zxid).text)
    (since,) = page.xpath("//*[@id='time-bar']//a[text()='What changed since']/@href")
    assert "topic=orders" in since
    (kept,) = page.xpath("//*[@id='time-bar']//a[text()='Keep']/@href")
    assert kept == f"{HOME}bookmarks/?until=zxid%3A0x{came.zxid:x}"
    assert told.server.get(kept).status == 200


def test_a_right_that_was_taken_away_is_taken_for_the_past_too(told: Told, tmp_path: Path) -> None:
    data, zxid = tmp_path / "data", told.dumps[0].zxid
    with serving(told, tmp_path / "closed", ZKDASH_DATA=str(data), ZKDASH_ANONYMOUS_READ="0") as server:
        cookie = f"sessionid={signed_in(data, {'eve': 'viewer'})['eve']}"
        assert told.get(HOME, zxid).status == 200
        assert server.get(asking(HOME, zxid), Cookie=cookie).status == 200
        refused = server.get(asking(HOME, zxid), Accept="application/json")
        assert refused.status == 401
        in_database(data, "from zkdash.access.models import Grant\nGrant.objects.all().delete()")
        assert server.get(asking(HOME, zxid), Cookie=cookie).status == 404


def test_the_process_that_tells_it_asks_for_rights_itself(told: Told, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(told, tmp_path / "closed", ZKDASH_DATA=str(data), ZKDASH_ANONYMOUS_READ="0"):
        environment = {
            "ZKDASH_DATA": str(data),
            "ZKDASH_HISTORY": str(told.history),
            "ZKDASH_ZOOKEEPER": told.address,
            "ZKDASH_ANONYMOUS_READ": "0",
        }
        rewinder = Rewinder(COMMAND, Limits(), environment)
        try:
            headers = {"HOST": "localhost", "ACCEPT": "application/json"}
            query = f"at=zxid:{told.dumps[0].zxid}"
            answer = rewinder.ask(Question("GET", HOME, query, "http", "127.0.0.1", headers))
        finally:
            rewinder.stop()
    assert answer.status == 401
