"""What stands above the tables of a group, and the same as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

import msgspec

from zkdash.cluster.analysis import coordinator, migration
from zkdash.cluster.analysis.coordinator import Coordinator
from zkdash.cluster.analysis.migration import Migration
from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.rebalance.values import Expectation
from zkdash.kafka import paths
from zkdash.kafka.assignment.rules import Rule
from zkdash.kafka.values import Layout
from zkdash.live.parts import Block
from zkdash.live.snapshot import Snapshot
from zkdash.live.watching import positions
from zkdash.web.frame import links, shapes
from zkdash.web.frame.cells import Record, grouped, severity_html
from zkdash.web.frame.facts import (
    Explanation,
    Fact,
    Facts,
    Note,
    listed,
    moment,
    path,
    status_line,
    text,
)
from zkdash.web.frame.markup import format_html
from zkdash.web.groups import cells, kafka_offsets

_MOST_IDLE = 20
_MOST_TOPICS = 5
_ELSEWHERE = "not in ZooKeeper"
_NOT_SAMPLED = migration.judge(())


def block(snapshot: Snapshot, name: str, group: Group | None, expected: Expectation) -> Block:
    """The live block of facts."""
    if group is None and positions.is_kept_in_kafka(snapshot.samples, name):
        values = _only_in_kafka(snapshot, name)
    elif group is None:
        gone = f"No group named “{name}” is in ZooKeeper. No broker that could be asked knows one either."
        if not snapshot.state.loaded:
            gone = "Groups are not known before the first load from ZooKeeper."
        values = Facts(name, gone)
    else:
        values = _known(snapshot, group, expected)
    return Block(id="facts", template="frame/facts.html", values=values)


RECORD: Final = shapes.fields(
    status=shapes.TEXT,
    words=shapes.TEXT,
    rebalancing=shapes.WHETHER,
    rule=shapes.TEXT_OR_NULL,
    matching_rules=shapes.TEXTS,
    expected_by=shapes.TEXT,
    migration=shapes.or_null(
        shapes.fields(stage=shapes.TEXT, reason=shapes.TEXT, next_step=shapes.TEXT_OR_NULL)
    ),
    idle_threads=shapes.TEXTS,
    partial=shapes.TEXT_OR_NULL,
    notes=shapes.TEXTS,
    assumptions=shapes.TEXTS,
    coordinator=shapes.struct(Coordinator),
    retention=kafka_offsets.RECORD,
)


def record(snapshot: Snapshot, name: str, group: Group | None, expected: Expectation) -> Record:
    """The facts as JSON has them."""
    if group is None:
        if not positions.is_kept_in_kafka(snapshot.samples, name):
            return {}
        of_group = coordinator.of_group(snapshot.state, name)
        return {
            "status": Severity.INFO.value,
            "words": _ELSEWHERE,
            "coordinator": msgspec.structs.asdict(of_group),
            "retention": kafka_offsets.record(snapshot, name),
        }
    numbers = snapshot.state.group_summaries[group.name]
    of_group = coordinator.of_group(snapshot.state, group.name)
    return {
        "status": numbers.severity.value,
        "words": numbers.words,
        "rebalancing": group.name in snapshot.restless,
        "rule": expected.rule.value if expected.rule else None,
        "matching_rules": [rule.value for rule in expected.matching],
        "expected_by": expected.against.value,
        "migration": msgspec.to_builtins(_migration(snapshot, group)),
        "idle_threads": list(expected.idle),
        "partial": _partial(expected) or None,
        "notes": list(_notes(expected)),
        "assumptions": list(expected.inputs.assumptions),
        "coordinator": msgspec.structs.asdict(of_group),
        "retention": kafka_offsets.record(snapshot, group.name),
    }


def _known(snapshot: Snapshot, group: Group, expected: Expectation) -> Facts:
    partial = _partial(expected)
    source = expected.against.source if expected.plans else ""
    sentences = ((source,) if source else ()) + expected.inputs.assumptions
    return Facts(
        group.name,
        facts=tuple(_lines(snapshot, group, expected)),
        notes=(
            *((Note(partial, is_info=True),) if partial else ()),
            *(Note(sentence) for sentence in _notes(expected)),
            *(
                ()
                if snapshot.state.layout is Layout.V07
                else kafka_offsets.notes(snapshot.samples, group.name)
            ),
        ),
        explanation=Explanation("expecting", "How owners are expected", sentences) if sentences else None,
    )


def _lines(snapshot: Snapshot, group: Group, expected: Expectation) -> Iterator[Fact]:
    numbers = snapshot.state.group_summaries[group.name]
    is_old = snapshot.state.layout is Layout.V07
    yield status_line(
        numbers.severity,
        numbers.words,
        ("rebalancing",) if group.name in snapshot.restless else (),
        links.why(snapshot.cluster, [("group", group.name)]),
    )
    yield Fact("Path", path(paths.group(group.name)))
    if not is_old:
        yield _lag(snapshot, group.name)
    yield Fact("Offsets", _offsets_07(group) if is_old else kafka_offsets.place(snapshot, group, group.name))
    if rule := _rule(expected):
        yield Fact("Rule", rule)
    if not is_old:
        yield from kafka_offsets.facts(snapshot, group.name)
    moved = _migration(snapshot, group)
    if moved is not None:
        stage = severity_html(moved.stage.severity, moved.stage.value)
        next_step = f". Next: {moved.next_step}" if moved.next_step else ""
        yield Fact("Moved to Kafka", format_html("{} {}{}", stage, moved.reason, next_step))
    if expected.idle:
        shown = expected.idle[:_MOST_IDLE]
        threads = (
            format_html('<span title="{}"><bdi>{}</bdi></span>', thread, cells.short(thread, group.name))
            for thread in shown
        )
        yield Fact("Idle threads", listed(threads, more=len(expected.idle) - len(shown)))


def _lag(snapshot: Snapshot, name: str) -> Fact:
    """What it has left to read in all, with its age; or why that is not known."""
    lag = snapshot.lags.of_group(name)
    if lag.lag is None or lag.as_of is None:
        return Fact("Lag", text("unknown"), lag.reason, is_missing=True)
    worst = f"; {grouped(lag.worst.lag)} on {lag.worst.topic}-{lag.worst.partition}" if lag.worst else ""
    how = moment(int(lag.as_of) * 1000)
    return Fact("Lag", format_html("{} messages{}, as of {}", grouped(lag.lag), worst, how))


def _migration(snapshot: Snapshot, group: Group) -> Migration | None:
    """How far its offsets moved into Kafka; None of 0.7, which knows no such thing."""
    if snapshot.state.layout is Layout.V07:
        return None
    return snapshot.migrations.get(group.name, _NOT_SAMPLED)


def _partial(expected: Expectation) -> str:
    """What of the whole group is missing, and why."""
    return _sentence(expected.partial) if expected.partial else ""


def _only_in_kafka(snapshot: Snapshot, name: str) -> Facts:
    """A group of consumers of 0.9 and later, or one that has left nothing in ZooKeeper."""
    kept_in = (
        "The group keeps itself in Kafka. Its offsets, its members and what they were assigned are those that"
        " its coordinator tells; nothing of it is in ZooKeeper."
    )
    return Facts(
        name,
        facts=(
            status_line(Severity.INFO, _ELSEWHERE),
            _lag(snapshot, name),
            Fact("Offsets", kafka_offsets.place(snapshot, None, name)),
            *kafka_offsets.facts(snapshot, name),
        ),
        notes=(*kafka_offsets.notes(snapshot.samples, name), Note(kept_in, is_info=True)),
    )


def _rule(expected: Expectation) -> str:
    """By which rule owners are expected, and what speaks for it."""
    if not expected.plans:
        return "cannot be told" if expected.inputs.demand.members or not expected.inputs.is_clear else ""
    against = _titled(expected.against)
    if expected.rule is None:
        owned = any(part.owner for part in expected.parts)
        return f"{'none' if owned else 'nothing is owned to tell by'}; compared with {against}"
    others = [_titled(rule) for rule in expected.matching if rule is not expected.rule and rule.is_code]
    return against + (f"; {_or(others)} would give the same owners" if others else "")


def _titled(rule: Rule) -> str:
    return f"{rule.title} ({rule.releases})"


def _or(words: list[str]) -> str:
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _offsets_07(group: Group) -> str:
    return "in ZooKeeper, as positions in bytes (0.7)" if group.offsets else "none"


def _notes(expected: Expectation) -> Iterator[str]:
    """What an operator should know about the group as a whole, worst first."""
    demanded = expected.inputs
    yield from map(_sentence, demanded.blocked)
    # These begin with a consumer's id, or as a sentence does.
    yield from (f"Not planned: {text}." for text in demanded.unclear)
    if _is_mixed(expected):
        yield _mixed(expected)
    yield from map(_sentence, expected.may_differ)
    open_topics = sorted(demanded.open_topics.items())
    for topic, why in open_topics[:_MOST_TOPICS]:
        yield f"Topic {topic}: {why}."
    if len(open_topics) > _MOST_TOPICS:
        yield f"{len(open_topics) - _MOST_TOPICS} more topics cannot be told in full."


def _is_mixed(expected: Expectation) -> bool:
    """Whether members follow rules that have none in common; else the partitions tell what is wrong."""
    rules = [set(rule) for rule in expected.followed.values() if rule]
    return len(rules) > 1 and not set.intersection(*rules)


def _mixed(expected: Expectation) -> str:
    """Which rules the members follow each for itself, where the group as a whole follows none (D41)."""
    kinds = Counter(
        _or([_titled(rule) for rule in rules]) if rules else "none" for rules in expected.followed.values()
    )
    counted = ", ".join(f"{count} by {kind}" for kind, count in kinds.most_common())
    return f"The owners as a whole follow no rule. Members that own just what a rule gives them: {counted}."


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith(".") else ".")
