"""What a derivation reads: the changes after a position, and what was there before them.

Positions are zxids. What is there at one is carried in the table `held`, moved on by the changes since. Where
the logs have a gap, or do not begin with the first transaction ever, a checkpoint behind it tells what was
there: a znode that was not written since counts from when it was.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Final, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it

from zkdash.history.places.location import Location
from zkdash.history.store import schemas
from zkdash.history.store.coverage import Stretch, follows
from zkdash.history.store.delta import Table, TableVersion
from zkdash.kafka.znode_kinds import Kind
from zkdash.pipeline import checkpoints
from zkdash.pipeline.derivation import removals
from zkdash.pipeline.storage import spark_files
from zkdash.pipeline.transforms import events
from zkdash.time_units import DAY_MS

# A position: a table was derived without what came late, and is replaced by what is derived next.
ANEW: Final = -1
AS_OF: Final = "as_of_ms"  # a position: the greatest time of the changes that a table counts
_SILENT: Final = "type = 'closeSession' AND path IS NULL AND removed IS NULL"
_COLUMNS: Final = (
    "zxid",
    "op_index",
    "time",
    "session",
    "type",
    "path",
    "data",
    "ephemeral",
    "ephemeral_owner",
    "removed",
)


class Facts(NamedTuple):
    """Of the changes: how many, the least and the greatest of their times (epoch ms), and how many of them
    are ends of sessions that leave out what they removed."""

    changes: int
    first_ms: int
    last_ms: int
    silent: int = 0


class Inputs:
    """The changes after `since` up to the end of a stretch, which the logs tell without a gap."""

    def __init__(
        self, spark: SparkSession, directory: Location, since: int, stretch: Stretch, *, source: str
    ) -> None:
        self._spark = spark
        self._directory = directory
        self._held = Table(directory / "held")
        self._source = source
        self.since = since
        self.stretch = stretch
        self.changes_table = Table(directory / "changes").read()

    @cached_property
    def changes(self) -> DataFrame:
        """The changes, those told that a log before 3.6 leaves out."""
        raw = self._between(self.since, self.stretch.last)
        if not self.facts.silent:
            return raw
        carried = self._carried.select("path", "ephemeral_owner", "czxid")
        return removals.with_removals(raw, carried)

    @cached_property
    def events(self) -> DataFrame:
        """`events.events` of the changes, computed once: what is asked of them is planned without how."""
        return checkpoints.local(events.events(self.changes, self._before))

    @cached_property
    def _happened(self) -> frozenset[int]:
        """The kinds of znodes of which the events tell more than what was carried on."""
        kinds = self.events.where("what != 'held'").select("kind").distinct().collect()
        return frozenset(row.kind for row in kinds)

    def tell_of(self, kinds: Iterable[Kind]) -> bool:
        """Whether anything happened to znodes of these kinds, or was found of them behind a gap."""
        return not self._happened.isdisjoint(kinds)

    @cached_property
    def facts(self) -> Facts:
        raw = self._between(self.since, self.stretch.last)
        silent = F.count_if(F.expr(_SILENT))
        (row,) = raw.agg(F.count("*"), F.min("time"), F.max("time"), silent).collect()
        return Facts(row[0], row[1] or 0, row[2] or 0, row[3])

    @property
    def first_ms(self) -> int:
        """A time that no event is older than, but for what is held; a day before that of the first change,
        since times may go back. What a checkpoint has behind a gap is as old as can be.
        """
        return max(0, self.facts.first_ms - DAY_MS) if follows(self.since, self.stretch.first) else 0

    def there(self, upto: int) -> DataFrame:
        """`schemas.HELD` rows after transaction `upto`."""
        return events.held(self.events.where(F.col("zxid") <= upto))

    @cached_property
    def _carried(self) -> DataFrame:
        """What is there at `since`."""
        base = self._held.read()
        reached = position(base, self._source)
        carried = spark_files.read(self._spark, self._held, schemas.HELD, base.files if reached else ())
        if reached == self.since:
            return carried
        between = self._between(reached, self.since)
        moved_on = events.events(between, carried.withColumn("what", F.lit("held")))
        return checkpoints.local(events.held(moved_on))

    @cached_property
    def _before(self) -> DataFrame:
        carried = self._carried.withColumn("what", F.lit("held"))
        if follows(self.since, self.stretch.first):
            return carried
        stored = self._found()
        if stored is None:
            return carried
        return carried.unionByName(stored.withColumn("what", F.lit("found")))

    def _found(self) -> DataFrame | None:
        """Of the first checkpoint in or behind the gap, what was last written before the changes begin."""
        table = Table(self._directory / "znodes_checkpoint")
        stored = spark_files.read(self._spark, table, schemas.CHECKPOINTS, table.read().files)
        (first,) = stored.where(F.col("zxid") >= self.stretch.first - 1).agg(F.min("zxid")).collect()
        if first[0] is None:
            return None
        checkpoint = stored.where((F.col("zxid") == first[0]) & (F.col("mzxid") < self.stretch.first))
        return checkpoint.where(F.col("mzxid") > self.since).select(*schemas.HELD.names)

    def _between(self, since: int, upto: int) -> DataFrame:
        """Changes after `since` up to `upto`, those of watchers by what bounds them."""
        table = Table(self._directory / "changes")
        listed = [
            file for file in self.changes_table.files if _may_hold(file.bounds.get("zxid_upto"), since, upto)
        ]
        rows = spark_files.read(self._spark, table, schemas.CHANGES, listed)
        zxid = F.coalesce("zxid", "zxid_upto")
        return (
            rows.where((F.col("source") == self._source) & (zxid > since) & (zxid <= upto))
            .withColumn("zxid", zxid)
            .select(*_COLUMNS)
        )


def key(source: str) -> str:
    """What a position is called in a table: changes of logs and of watchers are counted apart."""
    return f"derived:{source}"


def position(version: TableVersion, source: str) -> int:
    return max(version.position(key(source)) or 0, 0)


def has_begun(version: TableVersion, source: str) -> bool:
    """Whether a table holds anything derived from a source that is to be gone on with."""
    return version.position(key(source)) not in (None, ANEW)


def _may_hold(bounds: tuple[int, int] | None, since: int, upto: int) -> bool:
    return bounds is None or (bounds[1] > since and bounds[0] <= upto)
