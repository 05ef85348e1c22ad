"""What is known by its path alone: configurations, ACLs, delegation tokens, notifications."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Final

import immutables

from zkdash.cluster.model.draft import Draft
from zkdash.cluster.model.known import Read
from zkdash.cluster.model.state import ClusterState, Seen
from zkdash.cluster.reducer.arrivals import Arrival
from zkdash.cluster.reducer.assembly import readable
from zkdash.cluster.reducer.reading import Reader
from zkdash.kafka.values import EntityConfig
from zkdash.kafka.znode_kinds import BY_KIND, Place, parse
from zkdash.znode import Unreadable

_CONFIG: Final = "/config/"


class Entities:
    """Those of a state while a batch is applied."""

    def __init__(self, before: ClusterState) -> None:
        self._before = before
        self._drafts: dict[str, Draft[str, Any]] = {}

    def read(self, arrived: Iterable[Arrival], reader: Reader) -> set[str]:
        """Read what arrived; the areas that it touches."""
        areas = set()
        for arrival in arrived:
            row = BY_KIND[arrival.kind]
            draft = self._drafts.get(row.field)
            if draft is None:
                draft = self._drafts[row.field] = Draft(getattr(self._before, row.field))
            value: Any = reader.value(arrival, partial(parse, Place(arrival.kind)))
            seen = None if value is None else Seen(value, readable(arrival.read))
            draft.put(_key(row.field, arrival.path), seen)
            areas.add(row.area)
        return areas

    def refuse(self, arrived: Iterable[tuple[str, Read]]) -> set[str]:
        """Keep which directories may not be read; the areas that it touches."""
        refused_before, areas = self._before.refused, set[str]()
        for path, read in arrived:
            refused = read if isinstance(read, Unreadable) else None
            if refused != refused_before.get(path):
                self._drafts.setdefault("refused", Draft(refused_before)).put(path, refused)
                areas |= {"configs", "acls", "notifications"}
        return areas

    def configs(self) -> immutables.Map[str, Seen[EntityConfig]]:
        """The configurations as they stand so far in the batch."""
        draft = self._drafts.get("configs")
        return self._before.configs if draft is None else draft.close()

    def close(self) -> dict[str, Any]:
        """The fields of the state that changed."""
        return {field: draft.close() for field, draft in self._drafts.items()}


def _key(field: str, path: str) -> str:
    """A configuration is known by its path below /config, a token by its id, all else by its path."""
    if field == "configs":
        return path.removeprefix(_CONFIG)
    return path.rpartition("/")[2] if field == "tokens" else path
