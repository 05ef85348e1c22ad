"""What the pipeline stands on: a Java, Spark, and the files that clusters name."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from zkdash import java
from zkdash.management.verifying.finding import Finding, State
from zkdash.zk.config import ClusterConfig

_CONNECT = "sc://"


def java_at_hand() -> list[Finding]:
    """Which Java would be used. Only a master elsewhere that is reached by Spark Connect needs none."""
    try:
        with tempfile.TemporaryDirectory() as cache:
            runtime = java.find(cache=Path(cache))
    except java.NoJavaError as error:
        state = State.WRONG if _is_needed() and not _master().startswith(_CONNECT) else State.UNUSED
        return [Finding("Java", state, f"{error}.")]
    return [Finding("Java", State.OK, f"Java {runtime.version} runs.")]


def spark() -> list[Finding]:
    """Is Spark installed, and are the files there that it is to read. No session is started."""
    return [_installed(), *_files()]


def _installed() -> Finding:
    if importlib.util.find_spec("pyspark") is None:
        state = State.WRONG if _is_needed() else State.UNUSED
        return Finding(
            "Spark", state, "PySpark is not installed.", "The pipeline's jobs need it." * _is_needed()
        )
    version = importlib.metadata.version("pyspark")
    return Finding("Spark", State.OK, f"PySpark {version} is installed; the master is {_master()}.")


def _files() -> Iterator[Finding]:
    for cluster in settings.ZKDASH_CLUSTERS:
        places = [
            (key, place) for key in ("transaction_logs", "snapshots") for place in getattr(cluster, key)
        ]
        places += [("segments", place) for each in cluster.segments for place in each.directories]
        for key, place in places:
            if "://" not in place:
                yield _directory(cluster, key, Path(place))


def _directory(cluster: ClusterConfig, key: str, path: Path) -> Finding:
    subject = f"cluster {cluster.name}: {key}"
    if not path.is_dir():
        remedy = f"Correct {key}, or mount the directory where the pipeline runs."
        return Finding(subject, State.WRONG, f"{path} is no directory here.", remedy)
    if not os.access(path, os.R_OK | os.X_OK):
        return Finding(subject, State.WRONG, f"{path} may not be read.", "Let the pipeline's user read it.")
    return Finding(subject, State.OK, f"{path} can be read.")


def _is_needed() -> bool:
    return any(cluster.has_files for cluster in settings.ZKDASH_CLUSTERS)


def _master() -> str:
    return os.environ.get("ZKDASH_SPARK", "").strip() or "local[*]"
