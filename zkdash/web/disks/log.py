"""Log: a partition's log on the disks of its brokers, as the newest run of the pipeline saw it."""

from __future__ import annotations

from typing import Final

import msgspec

from zkdash.cluster.analysis import retention
from zkdash.cluster.analysis.retention import Deletion, Extent, Rules, Setting
from zkdash.history.queries import disks
from zkdash.history.queries.disks import LogSegment, PartitionLog, ReplicaLog
from zkdash.kafka.configs import option_units
from zkdash.live.parts import Block, PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.disks import configured, log_picture
from zkdash.web.disks.log_columns import REPLICAS, SEGMENTS, Line, replica_severity, segment_severity
from zkdash.web.frame import cells, links, listing, shapes, tables, times
from zkdash.web.frame.facts import Fact, Facts, Note, moment
from zkdash.web.frame.page import Page, View
from zkdash.web.frame.parameters import Parameters, of_canonical
from zkdash.web.frame.tables import Empty
from zkdash.web.history import recorded

NAME: Final = "log"
_ROWS: Final = 200
_MOST_PARTITION: Final = 9_999_999
_MOST_NAMED: Final = 20
_UNREAD: Final = "a run of the pipeline has not read all of the log yet"
_PARAMETERS: Final = Parameters(frozenset({"partition", "page"}), 20, 20)


def canonical(raw: str) -> tuple[str, tuple[str, ...]]:
    """Which partition, and which page of its segments."""
    given = _PARAMETERS.read(raw)
    notes = given.notes
    pairs: list[tuple[str, str]] = []
    if "partition" in given:
        pairs.append(("partition", str(given.number("partition", _MOST_PARTITION))))
    page = listing.page_number(given.last_as_written("page", "1"), notes)
    pairs += [("page", str(page))] if page > 1 else []
    return links.query(pairs), tuple(notes)


def whole(snapshot: Snapshot, key: PageKey) -> View:
    """The log of the partition that is asked for, else of the first one that lies on a disk."""
    (topic,) = key.args
    given = of_canonical(key.query)
    wanted = int(given["partition"]) if "partition" in given else None
    log, trouble = recorded.told(
        snapshot.cluster,
        disks.TABLES,
        ("partition_log", topic, wanted),
        lambda opened: disks.partition_log(opened, topic, wanted),
        PartitionLog(wanted or 0),
    )
    title = f"Log of {topic}-{log.partition}"
    if not log.replicas and not trouble and snapshot.state.loaded and topic not in snapshot.state.topics:
        gone = f"No topic named “{topic}” is in ZooKeeper, and no log of it was seen."
        return View(title=title, parts=(), gone=gone)
    by_replica = {replica.directory: _deletions(snapshot, topic, log, replica) for replica in log.replicas}
    newest_first = sorted(log.segments, key=lambda each: -each.base_offset)  # replicas side by side
    lines = [Line(snapshot.cluster, each, *_deletion(by_replica, each)) for each in newest_first]
    cut = listing.cut(len(lines), int(given.get("page", "1")), _ROWS)
    return View(
        title=title,
        parts=(
            Block(id="facts", template="frame/facts.html", values=_facts(snapshot, title, topic, log)),
            tables.part(
                "replica-logs",
                REPLICAS,
                (
                    (f"replica-{number}", replica_severity(replica), (snapshot.cluster, replica))
                    for number, replica in enumerate(log.replicas)
                ),
                Empty("No disk holds a replica of it that a run of the pipeline has seen."),
            ),
            log_picture.block(log, {line.segment for line in lines if line.deletion}),
            tables.part(
                "log-segments",
                tables.shown(SEGMENTS),
                (
                    (f"segment-{number}", segment_severity(line.segment), line)
                    for number, line in enumerate(lines[cut.place])
                ),
                Empty("No segment of it is known."),
            ),
            listing.pager(cut.at, cut.pages, lambda at: _address(log.partition, at), what="the segments"),
        ),
        context={
            "trouble": trouble,
            "topic": topic,
            "topic_href": links.topic(snapshot.cluster, topic),
            "log": log,
            "differing": [(number, _address(number)) for number in log.differing[:_MOST_NAMED]],
            "no_source": configured.no_disks(snapshot.cluster),
            "replica_headings": tables.headings(REPLICAS, ""),
            "headings": tables.headings(tables.shown(SEGMENTS), ""),
            "pipeline": links.cluster(snapshot.cluster, "pipeline/"),
        },
        fields=tables.fields(SEGMENTS),
        records=lambda: tables.records(SEGMENTS, lines),
        total=log.count,
        extra=lambda: {
            "topic": topic,
            "partition": log.partition,
            "seen": None if log.as_of_ms is None else times.utc_text(log.as_of_ms),
            "replicas": list(
                tables.records(REPLICAS, [(snapshot.cluster, replica) for replica in log.replicas])
            ),
            **({"error": trouble} if trouble else {}),
        },
        version=log,
    )


def look(_snapshot: Snapshot, key: PageKey) -> View:
    """Nothing of it is live but what stands above every page."""
    return View(title=f"Log of {key.args[0]}", parts=())


def _address(partition: int, page: int = 1) -> str:
    pairs = [("partition", str(partition))] + ([("page", str(page))] if page > 1 else [])
    return "?" + links.query(pairs)


def _deletions(
    snapshot: Snapshot, topic: str, log: PartitionLog, replica: ReplicaLog
) -> tuple[Rules, dict[int, Deletion]]:
    """What retention does to a replica's log, by the configuration as it is now."""
    rules = retention.rules(snapshot.state, topic, replica.broker)
    segments = [each for each in log.segments if each.directory == replica.directory]
    if len(segments) < replica.segments:  # the oldest, which would go first, are not among them
        return msgspec.structs.replace(rules, doubt="it has too many segments to tell"), {}
    extents = [Extent(each.base_offset, each.bytes, _newest(each)) for each in segments]
    deletions = retention.deletions(
        extents, rules, start=replica.log_start, high_watermark=replica.high_watermark
    )
    if rules.deletes and rules.ms >= 0 and not all(map(_newest, segments)):
        rules = msgspec.structs.replace(rules, doubt=rules.doubt or _UNREAD)
    return rules, {each.base_offset: each for each in deletions}


def _newest(segment: LogSegment) -> int | None:
    """By what a broker takes a segment for old: without timestamps by when it was changed."""
    if segment.next_offset is None:
        return None
    return segment.changed_ms if segment.last_ms is None else segment.last_ms


def _deletion(
    by_replica: dict[str, tuple[Rules, dict[int, Deletion]]], segment: LogSegment
) -> tuple[Deletion | None, str]:
    rules, deletions = by_replica.get(segment.directory, (None, {}))
    return deletions.get(segment.base_offset), "" if rules is None else rules.doubt


def _facts(snapshot: Snapshot, title: str, topic: str, log: PartitionLog) -> Facts:
    rules = retention.rules(snapshot.state, topic, None)
    facts = [Fact(each.name, _in_words(each), how=each.where) for each in rules.settings]
    if log.as_of_ms is not None:
        facts.insert(0, Fact("Seen", moment(log.as_of_ms)))
        facts.append(Fact("Partitions on disks", cells.grouped(len(log.partitions))))
    notes = [Note(f"What retention deletes is not told: {rules.doubt}.")] if rules.doubt else []
    if assumed := [each.name for each in rules.settings if each.where == retention.ASSUMED]:
        notes.append(Note(f"{', '.join(assumed)}: {retention.ASSUMED}.", is_info=True))
    return Facts(title, facts=tuple(facts), notes=tuple(notes))


def _in_words(setting: Setting) -> str:
    words = option_units.words(setting.name, setting.value)
    return f"{setting.value} ({words})" if words else setting.value


PAGE = Page(
    name=NAME,
    route="topics/<name:name>/log/",
    template="disks/log.html",
    look=look,
    canonical=canonical,
    shape=shapes.Shape(
        (SEGMENTS,),
        {
            "topic": shapes.TEXT,
            "partition": shapes.COUNT,
            "seen": shapes.TEXT_OR_NULL,
            "replicas": shapes.many(shapes.row(REPLICAS)),
            "error": shapes.TEXT,
        },
        optional=frozenset({"error"}),
        parameters={"partition": shapes.COUNT, "page": shapes.PAGE},
    ),
    whole=whole,
    no_past="What lies on disks is told as the newest run of the pipeline saw it.",
)
