"""The browser of znodes, and the page of a session: what they say, in HTML, JSON and CSV."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from django.test import Client

from tests.fixtures import hostile
from tests.web import states
from tests.web.markup import Markup
from zkdash import live
from zkdash.kafka import secrets
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import ChangedAreas
from zkdash.live.tree.znodes import Znodes
from zkdash.web.frame import links
from zkdash.web.serving import renderer
from zkdash.zk.mirror import results
from zkdash.zk.reader.znode_reader import NOTHING, Visit
from zkdash.znode import Acl, Stat, Unreadable, Znode

ROOT = "/c/demo/znodes/"
STATE = "/brokers/topics/orders/partitions/0/state"
# As ZooKeeper takes names: it has none of "/", "..", control characters or surrogates.
NAMES = (
    *("a b", " a ", "a  b", "%2F", "%252F", "%00", "~", "~~", "..a", "...", "a#b", "a?b=c&d", "+", ";", "\\"),
    *("<img src=x onerror=alert(1)>", "\u202egnp.exe", "é", "e\u0301", "日本", "\u200b", "x" * 900),
)


class Elsewhere:
    """A ZooKeeper that holds `visits` beside what is mirrored."""

    def __init__(self, visits: dict[str, Visit]) -> None:
        self._visits = visits

    def read(self, path: str, **_: object) -> Visit:
        return self._visits.get(path, NOTHING)

    def stats(self, paths: Sequence[str]) -> dict[str, Stat | Unreadable | None]:
        return {path: self._visits[path].stat if path in self._visits else None for path in paths}


def publish(tree: states.Tree, visits: dict[str, Visit] | None = None) -> None:
    """A cluster whose znodes are mirrored, and what a read of ZooKeeper would tell of others."""
    states.publish(tree)
    held = states.held("demo")
    live.lend("demo", Znodes(lambda: held, Elsewhere(visits or {})))


def visit(read: Znode, *children: str, acl: tuple[Acl, ...] = (Acl(31, "world", "anyone"),)) -> Visit:
    return Visit(read.stat._replace(num_children=len(children)), acl=acl, data=read, children=children)


def page(path: str, **query: str) -> Markup:
    return Markup(Client().get(links.znode("demo", path), query))


def document(path: str, **query: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        Client().get(links.znode("demo", path), query | {"format": "json"}).content
    )
    return found


def names(path: str, **query: str) -> list[str]:
    return [row["name"] for row in document(path, **query)["rows"]]


def test_the_children_of_a_mirrored_znode_come_with_what_each_is() -> None:
    publish(states.healthy())
    assert document("/brokers/ids")["rows"][0] == {
        "name": "1",
        "kind": "ephemeral",
        "children": 0,
        "size": 214,
        "version": 3,
        "modified": "2026-11-20T10:42:07.123Z",
        "owner": "0x100",
    }
    [orders] = [row for row in document("/brokers/topics")["rows"] if row["name"] == "orders"]
    assert (orders["children"], orders["owner"]) == (1, None)
    assert orders["owner_reason"] == "no session owns it: it is not ephemeral"
    shown = page("/brokers/topics")
    assert shown.texts("#children-rows th") == ["clicks", "orders", "payments"]
    assert shown.text("#showing") == "Showing 3 of 3 children"


def test_a_value_is_shown_raw_decoded_and_as_what_it_means() -> None:
    publish(states.healthy())
    found = document(STATE)["znode"]
    assert found["data"].startswith('{"version": 1, "leader": 1,')
    assert found["fields"]["isr"] == "[1,2,3]"
    assert (found["read_as"], found["kind"], found["reasons"]) == ("partition state", "persistent", [])
    assert found["stat"]["czxid"] == "0x1"
    shown = page(STATE)
    assert '"leader": 1' in shown.text("#decoded")
    assert {"/c/demo/topics/orders/", "/c/demo/znodes/brokers/topics/orders"} <= {
        link.get("href") for link in shown.all("#facts a")
    }
    [crumb] = [a.get("href") for a in shown.all("h1 a")][-1:]
    assert crumb == "/c/demo/znodes/brokers/topics/orders/partitions/0"


@pytest.mark.parametrize(
    ("path", "href"),
    [
        ("/brokers/ids/1", "/c/demo/brokers/1/"),
        ("/brokers/topics/orders", "/c/demo/topics/orders/"),
        ("/config/topics/orders", "/c/demo/topics/orders/"),
        ("/controller", "/c/demo/"),
        ("/consumers/billing/offsets/orders/0", "/c/demo/groups/billing/"),
        ("/brokers", None),
    ],
)
def test_each_znode_leads_to_the_page_that_shows_it(path: str, href: str | None) -> None:
    members = {"billing_h-1-00000000": ["orders"]}
    publish(states.healthy() | states.group("billing", members, offsets={"orders": {0: 5}}))
    links_ = [a.get("href") for a in page(path).all("#facts dl a")]
    assert (href in links_) if href else not links_


def test_what_does_not_parse_says_why_and_is_marked_in_the_list() -> None:
    publish(states.healthy() | {"/brokers/topics/odd": states.znode("{nope")})
    [reason] = document("/brokers/topics/odd")["znode"]["reasons"]
    assert reason == "not JSON: object keys must be strings at byte 1"
    [row] = [
        row
        for row in page("/brokers/topics").all("#children-rows tr")
        if row.get("data-severity") == "critical"
    ]
    assert "odd" in row.text_content()


def test_binary_data_is_a_dump_and_long_data_is_cut_with_a_link_to_the_whole() -> None:
    long = b"x" * 70_000
    publish(
        states.healthy()
        | {
            "/admin/binary": states.znode(b"\x00\x01AB" + bytes(range(200, 232))),
            "/admin/long": states.znode(long),
            "/admin/null": states.znode(None),
            "/admin/empty": states.znode(b""),
        }
    )
    binary = document("/admin/binary")["znode"]
    assert binary["data"].splitlines()[0].startswith("00000000  00 01 41 42 c8")
    assert binary["data"].splitlines()[0].endswith("  ..AB............")
    assert (binary["data_is_hex"], binary["data_is_cut"]) == (True, False)
    cut = document("/admin/long")["znode"]
    assert (len(cut["data"]), cut["data_is_cut"]) == (65_536, True)
    whole = Client().get(cut["data_href"])
    assert (whole.content, whole["Content-Type"]) == (long, "application/octet-stream")
    assert whole["Content-Disposition"].startswith("attachment")
    assert "The first 65 536 of 70 000 bytes" in page("/admin/long").text("#facts")
    assert document("/admin/null")["znode"]["data_reason"] == "No data (null)."
    assert document("/admin/empty")["znode"]["data_reason"] == "Empty data."


def test_a_path_without_a_znode_is_not_found_and_one_that_can_be_none_says_why() -> None:
    publish(states.healthy())
    for path, sentence in (
        ("/brokers/ids/77", "No such znode is in ZooKeeper."),
        ("/elsewhere", "No such znode is in ZooKeeper."),
        ("/brokers/../ids", "No znode can have this path: “.” and “..” are no names."),
        ("/brokers/a\nb", "No znode can have this path: a name cannot hold '\\n'."),
        ("/brokers/a\0b", "No znode can have this path: a name cannot hold '\\x00'."),
        ("/" + "x" * 5000, "No znode can have this path: it is too long."),
    ):
        answer = Client().get(links.znode("demo", path))
        assert (answer.status_code, sentence in answer.content.decode().replace("&#x27;", "'")) == (404, True)
        assert document(path)["error"] == sentence
    assert Client().get(links.znode_data("demo", "/elsewhere")).status_code == 404


@pytest.mark.parametrize("name", NAMES)
def test_every_name_leads_to_its_znode_and_back(name: str) -> None:
    path = f"/brokers/topics/{name}"
    publish(states.healthy() | {path: states.znode(name)})
    assert name in names("/brokers/topics", size="1000")
    href = links.znode("demo", path)
    assert unquote(urlsplit(href).path).startswith("/c/demo/znodes/brokers/topics/")
    assert href in [a.get("href") for a in page("/brokers/topics").all("#children-rows a")]
    assert document(path)["znode"]["path"] == path
    copied = [button.get("data-copy") for button in page(path).all("#facts button")]
    assert copied == [path]


def test_what_does_not_show_in_a_name_is_written_out() -> None:
    publish(states.healthy() | {f"/brokers/topics/{name}": states.znode() for name in NAMES})
    shown = page("/brokers/topics", size="1000").texts("#children-rows th")
    assert {r"\u202egnp.exe", r"\u200b", r"\x20a\x20", "<img src=x onerror=alert(1)>"} <= set(shown)
    assert page("/brokers/topics/\u202egnp.exe").text("h1").endswith(r"\u202egnp.exe")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"q": "orders"}, ["orders"]),
        ({"q": "ORD ers"}, ["orders"]),
        ({"sort": "-name"}, ["payments", "orders", "clicks"]),
        ({"sort": "-size"}, ["orders", "payments", "clicks"]),
        ({"q": "kind:ephemeral"}, []),
        ({"q": "nothing"}, []),
    ],
)
def test_filter_and_sort_live_in_the_address(query: dict[str, str], expected: list[str]) -> None:
    publish(states.healthy())
    assert names("/brokers/topics", **query) == expected


def test_sequential_and_ephemeral_znodes_are_found_by_their_kind() -> None:
    publish(
        states.healthy()
        | {"/config/changes/config_change_0000000007": states.znode("{}", owner=0x100)}
        | {"/config/changes/other": states.znode("{}")}
    )
    assert names("/config/changes", q="kind:sequential") == ["config_change_0000000007"]
    assert names("/config/changes", q="kind:ephemeral") == ["config_change_0000000007"]
    assert names("/config/changes", q="kind:persistent") == ["other"]


def test_many_children_are_paged() -> None:
    publish({f"/brokers/topics/t{number:04}": states.znode() for number in range(120)})
    assert names("/brokers/topics", page="3") == [f"t{number:04}" for number in range(100, 120)]
    assert len(names("/brokers/topics", size="200")) == 120
    third = page("/brokers/topics", page="2")
    assert third.text("#showing") == "Showing 50 of 120 children"
    assert "page 2 of 3" in third.text("#pager")


def test_what_is_not_mirrored_is_asked_for_with_its_children() -> None:
    quota = states.znode(b"count=1,bytes=-1", mzxid=9)
    publish(
        states.healthy(),
        {
            "/": visit(states.znode(b""), "zookeeper", "brokers"),
            "/zookeeper": visit(states.znode(b""), "quota"),
            "/zookeeper/quota": visit(quota, acl=(Acl(1, "world", "anyone"), Acl(31, "digest", "ops"))),
        },
    )
    assert names("/") == ["brokers", "config", "controller", "controller_epoch", "zookeeper"]
    [row] = document("/zookeeper")["rows"]
    assert (row["name"], row["size"], row["children"]) == ("quota", 16, 0)
    found = document("/zookeeper/quota")["znode"]
    assert (found["mirrored"], found["data"]) == (False, "count=1,bytes=-1")
    assert found["acl"] == [
        {"who": "world: anyone", "may": "read"},
        {"who": "digest: ops (its hash is not shown)", "may": "read, write, create, delete, admin"},
    ]


def test_without_zookeeper_the_page_shows_what_is_mirrored_and_says_what_is_not_known() -> None:
    states.publish(states.healthy())
    shown = page("/brokers/ids/1")
    assert "Not read from ZooKeeper now. ZooKeeper is away." in shown.text("#facts")
    assert "host-1" in shown.text("#decoded")
    assert names("/") == ["brokers", "config", "controller", "controller_epoch"]
    elsewhere = Client().get(links.znode("demo", "/elsewhere"))
    assert elsewhere.status_code == 200, "nobody knows whether it is there"
    assert "Its children are not known. ZooKeeper is away." in Markup(elsewhere).text("#children-rows")


def test_what_is_refused_is_not_readable_and_not_absent() -> None:
    reason = "Reading it was refused."
    refused = Unreadable(reason)
    publish(
        states.healthy() | {"/config/users": refused},
        {"/closed": Visit(None, acl=refused, data=refused, children=refused)},
    )
    for path in ("/config/users", "/closed"):
        found = document(path)
        assert found["znode"]["data_reason"] == reason
        assert reason in page(path).text("#children-rows")
    [row] = [row for row in document("/config")["rows"] if row["name"] == "users"]
    assert (row["size"], row["size_reason"]) == (None, reason)


def test_no_secret_of_the_hostile_tree_is_on_any_page_of_it() -> None:
    publish({path: results.value(path, read) for path, read in hostile.tree().items()})
    for path in hostile.tree():
        if secrets.is_secret(path):
            for answer in (
                Client().get(links.znode("demo", path)),
                Client().get(links.znode_data("demo", path)),
            ):
                assert hostile.CANARY not in answer.content.decode(errors="replace"), path


def test_json_and_csv_are_of_the_same_query() -> None:
    publish(states.healthy())
    text = Client().get(ROOT + "brokers/topics", {"q": "orders", "format": "csv"}).content.decode()
    assert text.splitlines()[0] == "name,kind,children,size,version,modified,owner"
    assert [line.split(",")[0] for line in text.splitlines()[1:]] == ["orders"]


def test_a_session_shows_all_that_it_owns() -> None:
    publish(states.healthy())
    assert "/c/demo/sessions/0x100/" in [a.get("href") for a in page("/controller").all("#facts a")]
    answer = Client().get("/c/demo/sessions/0x100/", {"format": "json"})
    owned = ["/brokers/ids/1", "/brokers/ids/2", "/brokers/ids/3", "/controller"]
    assert [row["name"] for row in json.loads(answer.content)["rows"]] == owned
    shown = Markup(Client().get("/c/demo/sessions/0x100/?q=ids"))
    assert shown.texts("#owned-rows th") == owned[:3]
    nobody = Client().get("/c/demo/sessions/0x7/")
    assert "It owns no ephemeral znode" in Markup(nobody).text("#owned-rows")
    for odd in ("0x0", "256", "0xg", "0x" + "f" * 17):
        assert Client().get(f"/c/demo/sessions/{odd}/").status_code == 404
    assert Client().get("/c/demo/sessions/0xffffffffffffffff/").status_code == 200


def touched(path: str, change: ChangedAreas, of: str = "znodes") -> bool:
    """Whether an open page is rendered again, which was rendered before."""
    key = PageKey("demo", of, (path,))
    return RENDERER.is_affected(key, "demo", change)


RENDERER = renderer.Renderer()
CONFIG = states.znode({"version": 1, "config": {}})


def test_an_open_page_is_rendered_again_for_what_it_shows_and_for_nothing_else() -> None:
    states.publish(states.healthy())
    for path in ("/config/topics", "/brokers/ids"):
        RENDERER.parts(PageKey("demo", "znodes", (path,)))
    change = states.change("/config/topics/clicks", CONFIG, revision=6)
    assert "znodes" in change.areas
    assert touched("/config/topics", change)
    assert not touched("/brokers/ids", change)
    table = RENDERER.parts(PageKey("demo", "znodes", ("/config/topics",))).parts[3]
    assert "clicks" in renderer.html(table)
    again = states.change("/brokers/ids/3", states.brokers(3)["/brokers/ids/3"], revision=7)
    assert touched("/brokers/ids", again)
    assert not touched("/config/topics", again)


def test_a_page_that_is_open_when_its_znode_goes_says_so() -> None:
    states.publish(states.healthy())
    key = PageKey("demo", "znodes", ("/brokers/ids/3",))
    RENDERER.parts(key)
    before = [part.id for part in RENDERER.parts(key).parts]
    change = states.change("/brokers/ids/3", None, revision=6)
    assert touched("/brokers/ids/3", change)
    after = RENDERER.parts(key).parts
    assert [part.id for part in after] == before
    assert "No such znode is in ZooKeeper." in renderer.html(after[2])


def test_a_page_of_a_session_follows_what_it_owns() -> None:
    states.publish(states.healthy())
    key = PageKey("demo", "session", ("0x100",))
    RENDERER.parts(key)
    RENDERER.parts(key)
    assert touched("0x100", states.change("/brokers/ids/3", None, revision=6), of="session")
    RENDERER.parts(key)
    assert not touched("0x100", states.change("/config/topics/clicks", CONFIG, revision=7), of="session")


def test_before_the_first_load_zookeeper_is_asked() -> None:
    states.publish(None)
    assert "ZooKeeper is away." in page("/brokers").text("#facts")
