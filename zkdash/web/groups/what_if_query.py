"""What a what-if of a group is asked: its query, read and written in one place."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

import msgspec

from zkdash.cluster.rebalance import scenario
from zkdash.cluster.rebalance.scenario import Scenario
from zkdash.kafka.assignment.rules import Rule
from zkdash.web.frame import listing
from zkdash.web.frame.parameters import Parameters

NUMBERS: Final = {
    "add": scenario.MOST_MEMBERS,
    "threads": scenario.MOST_THREADS,
    "partitions": scenario.MOST_PARTITIONS,
}
PAGES: Final = ("page", "members")
_PARAMETERS: Final = Parameters(
    frozenset({*NUMBERS, *PAGES, "host", "remove", "topic", "rule"}), longest=300, most=200
)


class Asked(msgspec.Struct, frozen=True):
    """What an address asks: the scenario, by which rule, and which page of either table is seen."""

    question: Scenario
    rule: Rule | None
    page: int = 1
    members: int = 1


def canonical(raw: str) -> tuple[str, tuple[str, ...]]:
    """What is asked, without its defaults, and a sentence about each thing that was not understood."""
    inquiry, notes = _understood(raw)
    return _write(inquiry), notes


def read(query: str) -> Asked:
    """A canonical query, understood."""
    return _understood(query)[0]


def address(inquiry: Asked, **changed: int) -> str:
    """The same scenario at another page."""
    return "?" + _write(msgspec.structs.replace(inquiry, **changed))


def _write(inquiry: Asked) -> str:
    question = inquiry.question
    pairs = [(name, str(value)) for name in NUMBERS if (value := getattr(question, name))]
    pairs += [("host", question.host)] if question.host != scenario.HOST else []
    pairs += [("remove", member) for member in question.remove]
    pairs += [("topic", question.topic)] if question.topic else []
    pairs += [("rule", inquiry.rule.value)] if inquiry.rule else []
    pairs += [(name, str(number)) for name in PAGES if (number := getattr(inquiry, name)) > 1]
    return urlencode(pairs, errors="surrogatepass")


def _understood(raw: str) -> tuple[Asked, tuple[str, ...]]:
    given = _PARAMETERS.read(raw)
    question = Scenario(
        **{name: given.number(name, most) for name, most in NUMBERS.items()},
        host=given.last("host") or scenario.HOST,
        remove=tuple(dict.fromkeys(given.all("remove"))),
        topic=given.last_as_written("topic"),
    )
    rule = _rule(given.last_as_written("rule"), given.notes)
    pages = {name: listing.page_number(given.last_as_written(name, "1"), given.notes) for name in PAGES}
    return Asked(question, rule, **pages), tuple(given.notes)


def _rule(value: str, notes: list[str]) -> Rule | None:
    if not value:
        return None
    rule_named = next((rule for rule in Rule if rule.value == value), None)
    if rule_named is None:
        notes.append(f"“{value}” is no rule; there are {', '.join(rule.value for rule in Rule)}.")
    return rule_named
