from __future__ import annotations

import pytest

from zkdash.cluster.model.severity import Severity
from zkdash.kafka.values import Unparsable
from zkdash.web.frame import cells
from zkdash.web.frame.cells import broker_cells
from zkdash.znode import Unreadable

TIME = 1_795_171_327_123
EVIL = "<img src=x onerror=alert(1)>\"'"


@pytest.mark.parametrize(
    ("cell", "markup", "plain"),
    [
        (cells.Number(12345), '<td class="num">12\u202f345</td>', 12345),
        (cells.Number(0), '<td class="num zero">0</td>', 0),
        (cells.Number(0, alert=Severity.CRITICAL), '<td class="num zero">0</td>', 0),
        (cells.Number(2, alert=Severity.CRITICAL), '<td class="num"><span class="critical">2</span></td>', 2),
        (cells.Id(12345), '<td class="num">12345</td>', 12345),
        (cells.Zxid(0x500000012), '<td class="num">0x500000012</td>', 21474836498),
        (cells.Range(3, 3), '<td class="num">3</td>', 3),
        (cells.Range(1, 3), '<td class="num">1–3</td>', 1),
        (cells.Percent(99.9), '<td class="num">99.9</td>', 99.9),
        (cells.Percent(100.0), '<td class="num">100</td>', 100.0),
        (cells.Rate(0.0), '<td class="num">0</td>', 0.0),
        (cells.Rate(12345.67891), '<td class="num">12\u202f345.679</td>', 12345.679),
        (cells.Rate(1500.0), '<td class="num">1\u202f500</td>', 1500.0),
        (cells.Head(7), '<th scope="row" class="num">7</th>', 7),
        (cells.Text("a"), '<td class="text"><bdi>a</bdi></td>', "a"),
        (
            cells.Status(Severity.WARNING, "2 under-replicated"),
            (
                '<td class="status"><span class="severity warning"><span aria-hidden="true">▲</span> '
                "2 under-replicated</span></td>"
            ),
            "warning",
        ),
        (
            cells.Moment(TIME),
            (
                '<td class="when"><time datetime="2026-11-20T10:42:07.123Z" '
                'title="2026-11-20 10:42:07.123 UTC">2026-11-20 10:42:07</time></td>'
            ),
            "2026-11-20T10:42:07.123Z",
        ),
        (
            broker_cells.InSync((1, 2), (3,)),
            '<td class="ids">1 2 <span class="out"><s>3</s> out</span></td>',
            [1, 2],
        ),
        (
            broker_cells.Replicas((3, 1), frozenset({1})),
            (
                '<td class="ids"><strong>3</strong> '
                '<span class="gone" title="broker 1 is not registered">1</span></td>'
            ),
            [3, 1],
        ),
        (
            cells.Marks(("deleting",)),
            '<td><span class="severity info">deleting</span></td>',
            ["deleting"],
        ),
    ],
)
def test_a_cell_says_the_same_in_html_and_in_json(cell: cells.Cell, markup: str, plain: object) -> None:
    assert cell.html() == markup
    assert cell.plain == plain
    assert cell.reason is None


@pytest.mark.parametrize(
    ("cell", "shown", "why"),
    [
        (cells.absent("no such znode"), "—", "no such znode"),
        (cells.unknown("ZooKeeper cannot tell"), "unknown", "ZooKeeper cannot tell"),
        (cells.unparsable(Unparsable("not JSON")), "?", "not JSON"),
        (cells.unparsable(Unreadable("refused by its ACL")), "not readable", "refused by its ACL"),
    ],
)
def test_the_kinds_of_no_value_stay_apart(cell: cells.Missing, shown: str, why: str) -> None:
    assert cell.html() == f'<td class="missing"><span title="{why}">{shown}</span></td>'
    assert (cell.plain, cell.reason) == (None, why)


@pytest.mark.parametrize(
    "cell",
    [
        cells.Name(EVIL, "/x"),
        cells.Text(EVIL),
        cells.Path(EVIL),
        cells.Status(Severity.OK, EVIL),
        cells.Marks((EVIL,)),
        cells.absent(EVIL),
    ],
)
def test_what_others_wrote_is_escaped(cell: cells.Cell) -> None:
    assert "<img" not in cell.html()
    assert "&lt;img" in cell.html()
    assert "\"'" not in cell.html()


@pytest.mark.parametrize("epoch_ms", [2**62, -(2**62), 10**18])
def test_a_time_outside_the_calendar_is_said_and_harms_nothing(epoch_ms: int) -> None:
    cell = cells.Moment(epoch_ms)
    assert cell.plain is None
    assert cell.reason == "the znode's time is outside the calendar"
    assert str(epoch_ms) in cell.html()
