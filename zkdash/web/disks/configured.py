"""Whether there is anything to tell of a cluster's disks: pages that lead to ours ask this."""

from __future__ import annotations

from django.conf import settings

from zkdash.zk.config import named


def has_disks(cluster: str) -> bool:
    """Whether log directories of its brokers are named in the configuration."""
    config = named(settings.ZKDASH_CLUSTERS, cluster)
    return config is not None and bool(config.segments)


def no_disks(cluster: str) -> str:
    """What to do where there are none, as a sentence; "" where there are."""
    if has_disks(cluster):
        return ""
    return (
        f"No log directories are configured for “{cluster}”: name the log.dirs of its brokers as segments in "
        "the cluster’s table of ZKDASH_CONFIG."
    )
