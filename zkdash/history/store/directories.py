"""Where a cluster's tables lie: `<root>/<cluster>/<table>/`, below the setting ZKDASH_HISTORY.

The name of a cluster is one directory's (`configuration.clusters` sees to that).
"""

from __future__ import annotations

from zkdash.history.places.location import Location
from zkdash.history.store.delta import Table


def directory(root: Location, cluster: str) -> Location:
    """The directory of all tables of a cluster; it need not exist yet."""
    return root / cluster


def table(root: Location, cluster: str, name: str) -> Table:
    """One table of a cluster."""
    return Table(directory(root, cluster) / name)
