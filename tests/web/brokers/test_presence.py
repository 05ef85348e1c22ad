"""The bar of a broker's last day, read back into times."""

from __future__ import annotations

import msgspec
import pytest
from django.test import Client

from tests.web import states
from tests.web.markup import Markup
from zkdash.cluster.changes import Change
from zkdash.cluster.incidents import Incidents, fold
from zkdash.web.brokers import presence
from zkdash.znode import Znode

URL = "/c/demo/brokers/3/"
DAY = 24 * 3_600_000
NOW = states.TIME + 7_200_000
END = NOW - NOW % 60_000 + 60_000


def drawn(client: Client) -> tuple[list[tuple[str, int, int]], str]:
    page = Markup(client.get(URL))
    pieces = [
        (piece.get("class"), int(piece.get("data-from")), int(piece.get("data-to")))
        for piece in page.all("#presence rect")
    ]
    return pieces, page.text("#presence p")


def test_a_broker_is_up_since_it_registered_and_before_that_nobody_knows(client: Client) -> None:
    states.publish(states.healthy(), as_of=NOW / 1000)
    pieces, sentence = drawn(client)
    assert pieces == [("unknown", END - DAY, states.TIME), ("up", states.TIME, END)]
    assert sentence == "Last day registered for 2 h, unknown for 21 h 59 min"


def test_it_was_away_between_two_registrations(client: Client) -> None:
    began, went, came = (NOW - minutes * 60_000 for minutes in (90, 60, 50))
    gone = Change(went, "brokers", "broker 3 went away", "h", None, "/brokers/ids/3", None, 1, since=began)
    back = Change(came, "brokers", "broker 3 registered", None, "h", "/brokers/ids/3", 7, 2)
    tree = states.healthy()
    registered = tree["/brokers/ids/3"]
    assert isinstance(registered, Znode)
    tree["/brokers/ids/3"] = Znode.of(registered.data, registered.stat._replace(ctime=came, mtime=came))
    states.publish(tree, as_of=NOW / 1000, incidents=fold(Incidents(), (gone, back)))
    pieces, sentence = drawn(client)
    assert pieces == [
        ("unknown", END - DAY, began),
        ("up", began, went),
        ("down", went, came),
        ("up", came, END),
    ]
    assert "away for 10 min (1×)" in sentence


@pytest.mark.parametrize("url", ["/c/demo/brokers/99/", "/c/demo/brokers/x/"])
def test_of_a_broker_that_is_not_there_nothing_is_drawn(client: Client, url: str) -> None:
    states.publish(states.healthy(), as_of=NOW / 1000)
    assert Markup(client.get(url)).all("#presence svg") == []


def test_an_open_page_is_sent_the_bar_once_a_minute_and_not_each_second(client: Client) -> None:
    first = states.publish(states.healthy(), as_of=NOW / 1000)
    blocks = [
        presence.block(msgspec.structs.replace(first, as_of=NOW / 1000 + seconds), 3)
        for seconds in (0, 1, 61)
    ]
    assert blocks[0] == blocks[1] != blocks[2]
