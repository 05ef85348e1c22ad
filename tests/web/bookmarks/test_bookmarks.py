"""Bookmarks: a moment that is kept outlives the tables that it was recorded in."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import Settings

from tests.conftest import Chroot
from tests.live.past import story
from tests.live.past.story import Dump
from tests.web import states
from tests.web.markup import Markup
from zkdash.access.models import Bookmark, Grant
from zkdash.access.roles import Role
from zkdash.actions.models import Audit
from zkdash.cluster.checks import Thresholds
from zkdash.history.queries.moment import MomentError
from zkdash.history.store import kept
from zkdash.live.past import comparing
from zkdash.live.past.reels import AsItWas, Reels

pytestmark = [pytest.mark.zk, pytest.mark.django_db]

PATH: Final = "/c/demo/bookmarks/"
BACKEND: Final = "django.contrib.auth.backends.ModelBackend"


@pytest.fixture(scope="module")
def recorded(shared_chroot: Chroot, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Dump]]:
    """The directory of a recorded cluster's tables, and the dumps of its story."""
    directory = tmp_path_factory.mktemp("history")
    return directory, story.tell(shared_chroot, directory / "demo")


@pytest.fixture
def history(recorded: tuple[Path, list[Dump]], tmp_path: Path, settings: Settings) -> Path:
    """A copy of them, which a test may delete."""
    settings.ZKDASH_HISTORY = tmp_path
    shutil.copytree(recorded[0] / "demo", tmp_path / "demo")
    states.publish()
    return tmp_path / "demo"


@pytest.fixture
def dumps(recorded: tuple[Path, list[Dump]]) -> list[Dump]:
    return recorded[1]


def somebody(name: str, role: Role) -> Client:
    user = User.objects.create_user(name)
    Grant.objects.create(user=user, role=role.value, clusters="demo")
    client = Client()
    client.force_login(user, backend=BACKEND)
    return client


def keep(client: Client, until: int | str, since: int | str = "", note: str = "the outage") -> Any:
    given = {"note": note, "until": _text(until), "since": _text(since)}
    return client.post(f"{PATH}keep/", given)


def _text(moment: int | str) -> str:
    return f"zxid:{moment}" if isinstance(moment, int) else moment


def at(history: Path, zxid: int) -> AsItWas:
    return Reels(history.parent.joinpath, lambda _: Thresholds(), 256).at("demo", "zk:2181", zxid=zxid)


def forget(history: Path) -> None:
    """What retention does, at its worst: nothing is left of the tables."""
    for table in history.iterdir():
        if table.is_dir() and table.name != kept.DIRECTORY:
            shutil.rmtree(table)


def events() -> list[tuple[str, str, Any]]:
    rows = Audit.objects.filter(event__startswith="bookmark-").order_by("id")
    return [(row.event, row.who, json.loads(bytes(row.detail))) for row in rows]


def test_what_is_kept_is_told_when_the_tables_are_gone(history: Path, dumps: list[Dump]) -> None:
    began, ended = dumps[2], dumps[6]
    between = dumps[3:6]
    before = {dump.zxid: at(history, dump.zxid) for dump in (began, *between, ended)}
    operator = somebody("alice", Role.OPERATOR)
    assert keep(operator, ended.zxid, began.zxid).status_code == 303
    forget(history)
    for dump in (began, *between, ended):
        was = at(history, dump.zxid)
        assert was.znodes == dump.znodes, dump.name
        assert was.snapshot.incidents == before[dump.zxid].snapshot.incidents, dump.name
    assert comparing.differing(at(history, began.zxid).znodes, at(history, ended.zxid).znodes)
    with pytest.raises(MomentError):
        at(history, dumps[8].zxid)  # what came later is not kept
    (row,) = json.loads(Client().get(f"{PATH}?format=json").content)["rows"]
    assert (row["note"], row["zxid"], row["from_zxid"]) == ("the outage", ended.zxid, began.zxid)
    assert row["address"].startswith("/c/demo/differences/?from=zxid%3A0x")
    assert row["bytes"] > 0
    name = f"zxid:0x{began.zxid:x} to zxid:0x{ended.zxid:x}"
    assert events() == [("bookmark-kept", "alice", {"what": "the outage", "name": name})]


def test_a_single_moment_is_kept_with_what_led_to_it(history: Path, dumps: list[Dump]) -> None:
    elected = next(dump for dump in dumps if dump.name == "elected anew")
    assert keep(somebody("alice", Role.OPERATOR), elected.zxid).status_code == 303
    forget(history)
    was = at(history, elected.zxid)
    assert was.znodes == elected.znodes
    assert [incident.subject for incident in was.snapshot.incidents.newest if incident.outages] == ["2"]
    page = Markup(Client().get(PATH))
    assert page.all("tbody th a")[0].get("href") == f"/c/demo/?at=zxid%3A0x{elected.zxid:x}"


def test_who_kept_it_or_an_administrator_removes_it_with_its_tables(history: Path, dumps: list[Dump]) -> None:
    alice = somebody("alice", Role.OPERATOR)
    keep(alice, dumps[3].zxid)
    keep(alice, dumps[4].zxid)
    first, second = Bookmark.objects.order_by("id")
    assert len(kept.parts(history)) == 2
    assert somebody("bob", Role.OPERATOR).post(f"{PATH}{first.pk}/remove/").status_code == 403
    assert somebody("eve", Role.VIEWER).post(f"{PATH}{first.pk}/remove/").status_code == 403
    assert alice.post(f"{PATH}{first.pk}/remove/").status_code == 303
    assert [part.number for part in kept.parts(history)] == [second.pk]
    assert somebody("root", Role.ADMIN).post(f"{PATH}{second.pk}/remove/").status_code == 303
    assert kept.parts(history) == []
    assert not Bookmark.objects.exists()
    assert alice.post(f"{PATH}{first.pk}/remove/").status_code == 404
    assert [(event, who) for event, who, _ in events()][2:] == [
        ("bookmark-removed", "alice"),
        ("bookmark-removed", "root"),
    ]


def test_a_viewer_looks_at_them_and_keeps_none(history: Path, dumps: list[Dump]) -> None:
    eve = somebody("eve", Role.VIEWER)
    assert keep(eve, dumps[3].zxid).status_code == 403
    page = Markup(eve.get(PATH))
    assert page.all("main form") == []
    assert Markup(somebody("alice", Role.OPERATOR).get(f"{PATH}?until=zxid:0x5")).all("main form input") != []


@pytest.mark.parametrize(
    ("bounds", "sentence"),
    [
        ({"bookmarks": 2, "bookmarks_per_person": 1}, "you keep 1 of this cluster (bookmarks_per_person"),
        ({"bookmark_bytes": 500}, "and 500 may be kept (bookmark_bytes of [limits])"),
    ],
)
def test_limits_are_sentences(
    history: Path, dumps: list[Dump], settings: Settings, bounds: dict[str, int], sentence: str
) -> None:
    settings.ZKDASH_LIMITS = msgspec.structs.replace(settings.ZKDASH_LIMITS, **bounds)
    alice = somebody("alice", Role.OPERATOR)
    answers = [keep(alice, dump.zxid) for dump in dumps[3:5]]
    assert answers[-1].status_code == 409
    assert sentence in answers[-1].content.decode()
    assert (
        Bookmark.objects.count()
        == len(kept.parts(history))
        == len(answers) - 1 - ("bookmark_bytes" in bounds)
    )
    assert list((history / kept.DIRECTORY).glob(".*")) == []


def test_all_people_together_keep_so_many(history: Path, dumps: list[Dump], settings: Settings) -> None:
    bounds = {"bookmarks": 2, "bookmarks_per_person": 1}
    settings.ZKDASH_LIMITS = msgspec.structs.replace(settings.ZKDASH_LIMITS, **bounds)
    people = [somebody(name, Role.OPERATOR) for name in ("alice", "bob", "carol")]
    *_, last = [keep(person, dumps[3].zxid) for person in people]
    assert last.status_code == 409
    assert "2 are kept of this cluster (bookmarks of [limits])" in last.content.decode()


@pytest.mark.parametrize(
    ("until", "since", "note", "sentence"),
    [
        ("yesterday", "", "x", "“yesterday” is no moment. Write until="),
        ("zxid:0x7fffffffffffffff", "", "x", "recorded up to 0x"),
        ("latest", "2999-01-01T00:00Z", "x", "it is recorded up to 20"),
        ("latest", "", "", "write a note of 1 to 400 characters"),
        ("latest", "", "x" * 401, "write a note of 1 to 400 characters"),
        ("latest", "", "x\0y", "write a note of 1 to 400 characters without NUL"),
    ],
)
def test_what_cannot_be_kept_is_a_sentence(
    history: Path, until: str, since: str, note: str, sentence: str
) -> None:
    answer = keep(somebody("alice", Role.OPERATOR), until, since, note)
    assert answer.status_code == 409
    assert sentence in answer.content.decode()
    assert not Bookmark.objects.exists()


def test_the_wrong_way_round_is_a_sentence(history: Path, dumps: list[Dump]) -> None:
    answer = keep(somebody("alice", Role.OPERATOR), dumps[2].zxid, dumps[6].zxid)
    assert "its first moment is later than its last" in answer.content.decode()
