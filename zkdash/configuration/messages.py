"""`[messages]`: where messages may be looked at, by who has the right, and how much a look takes."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Annotated

import msgspec

from zkdash.configuration import keys
from zkdash.configuration.tables import Table

_Pattern = Annotated[
    str,
    msgspec.Meta(
        pattern=r"\A[a-z0-9._*?\[\]!-]{1,63}\Z",
        extra={"wrong": 'is no pattern of names of clusters: write "shop", "test-*" or "*"'},
    ),
]


class Messages(Table, frozen=True, forbid_unknown_fields=True):
    """Nothing may be looked at unless `clusters` says so."""

    clusters: Annotated[
        tuple[_Pattern, ...],
        msgspec.Meta(
            description="Patterns of the clusters whose messages may be looked at; none unless set.",
            extra={"wrong": 'is no list of names of clusters: write ["shop", "test-*"]'},
        ),
    ] = ()
    most: Annotated[int, keys.count("Messages of one look.", most=10_000)] = 500
    read_bytes: Annotated[int, keys.count("What is fetched for one look.", most=2**28, unit=keys.BYTES)] = (
        8 * 2**20
    )
    seconds: Annotated[float, keys.seconds("For one look.", least=0.5, most=60)] = 10.0
    looks: Annotated[int, keys.count("At once, of all people; one person has one.", most=100)] = 4

    def allows(self, cluster: str) -> bool:
        """Whether messages of a cluster may be looked at, by who has the right."""
        return any(fnmatchcase(cluster, pattern) for pattern in self.clusters)
