"""The ways from what is shown to the forms of actions: boxes that choose rows, and links. For who may act."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec
from django.utils.safestring import SafeString

from zkdash import live
from zkdash.access.roles import Right, Role
from zkdash.cluster.analysis import kraft
from zkdash.live.parts import PageKey
from zkdash.web.frame import links
from zkdash.web.frame.cells import Cell, absent
from zkdash.web.frame.markup import format_html
from zkdash.web.frame.tables import Column

R = TypeVar("R")
# The form that the boxes of a page belong to, wherever they stand.
FORM = "pick"


class ActionLink(msgspec.Struct, frozen=True):
    """A form that proposes an action: a link to it, or the button that sends it what was chosen."""

    label: str
    href: str


class Box(Cell, frozen=True):
    """A tick-box that chooses the row; `name` is the parameter that the form gets its `value` by."""

    name: str
    value: str

    @property
    def plain(self) -> str:
        return self.value

    def html(self) -> SafeString:
        return format_html(
            '<td class="pick"><label><input type="checkbox" form="{}" id="{}" name="{}" value="{}" '
            'aria-label="Choose {}"></label></td>',
            FORM,
            links.element_id("pick", self.value),
            self.name,
            self.value,
            self.value,
        )


def may_act(key: PageKey) -> bool:
    """Whether those for whom a page is made may propose actions."""
    return Right.ACT in Role(key.rights).rights


def offers(key: PageKey) -> bool:
    """Whether a page leads to actions: for who may act, unless KRaft owns the metadata, when none is taken.

    As of the newest revision: a form asks again, and so does the plan.
    """
    snapshot = None if key.cluster is None else live.current(key.cluster)
    return may_act(key) and (snapshot is None or not kraft.refusal(snapshot.state))


def columns(
    key: PageKey, name: str, value: Callable[[R], str | None], others: Sequence[Column[R]]
) -> tuple[Column[R], ...]:
    """The columns, with boxes in front where actions are offered; `value` is None where none can be taken."""
    if not offers(key):
        return tuple(others)
    return (Column("pick", "Pick", lambda row: _box(name, value(row)), is_sortable=False), *others)


def _box(name: str, value: str | None) -> Cell:
    return absent("it is not in ZooKeeper, where actions write") if value is None else Box(name, value)


def context(key: PageKey, noun: str, *kinds: tuple[str, str]) -> dict[str, Any]:
    """What frame/row_selection.html needs: buttons for (label, kind); none where no action is offered."""
    if not offers(key):
        return {}
    return {"picked": noun, "picks": action_links(key, *((label, kind, ()) for label, kind in kinds))}


def every(key: PageKey) -> tuple[ActionLink, ...]:
    """The way to all kinds of actions, where any is offered."""
    if not offers(key):
        return ()
    return (ActionLink("All kinds of actions…", links.cluster(str(key.cluster), "actions/new/")),)


def action_links(
    key: PageKey, *wanted: tuple[str, str, Sequence[tuple[str, str | int]]]
) -> tuple[ActionLink, ...]:
    """Links to the forms of (label, kind, what it is to act on); none where no action is offered."""
    if not offers(key):
        return ()
    return tuple(
        ActionLink(label, links.form(str(key.cluster), kind, *chosen)) for label, kind, chosen in wanted
    )
