"""Moments of what happens to real brokers, as a client read them then, for the past to be held against."""

from __future__ import annotations

from pathlib import Path

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from tests.history.recorder.test_recorder import rows
from tests.live.past.story import Dump
from tests.pipeline import writes
from tests.serving import Served
from tests.waiting import wait_for
from zkdash.configuration.file import DEFAULT_NAME

LIMIT_S = 60.0
_NEWEST = f"/c/{DEFAULT_NAME}/?at=latest&format=json"


class Moments:
    """The moments of one cluster, which `site` records below `history`; `dumps` has them in their order."""

    def __init__(self, client: KazooClient, site: Served, history: Path) -> None:
        self._client, self._site, self._changes = client, site, history / DEFAULT_NAME
        self.dumps: list[Dump] = []
        # the first moment is told by a checkpoint, which is written some seconds after the recorder began
        wait_for(lambda: self._site.get(_NEWEST).status == 200, LIMIT_S, every_s=0.2)

    def keep(self, name: str) -> None:
        """Read the whole tree as it is now, by the name of what has just happened."""
        dump = wait_for(lambda: self._read(name), LIMIT_S)
        since = self.dumps[-1].zxid if self.dumps else 0
        self._until_committed(dump, since)
        self.dumps.append(dump)

    def _read(self, name: str) -> Dump | None:
        """The tree, where nothing was written while it was read: its answers are of one transaction."""
        self._client.sync("/")
        before = self._client.last_zxid
        try:
            znodes = dict(writes.walk(self._client, "/"))
        except NoNodeError:
            return None
        return Dump(name, before, znodes) if self._client.last_zxid == before else None

    def _until_committed(self, dump: Dump, since: int) -> None:
        """Wait until the offsets of a moment are recorded: of many commits between two writes one is kept."""
        commits = {
            (path, znode.data)
            for path, znode in dump.znodes.items()
            if "/offsets/" in path and znode.num_children == 0 and znode.stat.mzxid > since
        }

        def are_recorded() -> bool:
            self._site.get(_NEWEST)  # which has it written
            return commits <= {(row["path"], row["data"]) for row in rows(self._changes)}

        if commits:
            wait_for(are_recorded, LIMIT_S, lambda: (dump.name, commits), every_s=0.2)
