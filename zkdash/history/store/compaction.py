"""Many small files of a table as few: a stream lists one a batch, and each costs every reader."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from zkdash.history.store import files
from zkdash.history.store.manifest import File, Table

SMALL_BYTES: Final = 16 << 20
_ENOUGH: Final = 8
_COMPRESSION: Final = "zstd"


def compact(table: Table, run: str, *, now_ms: int, small_bytes: int = SMALL_BYTES, runs: str = "") -> int:
    """Put one file in place of each partition's small ones, where there are many; how many went.

    Only files of runs whose names begin with `runs`.

    Rows keep their order. Memory: a batch of rows at a time. Raises manifest.ConflictError where somebody
    wrote the table meanwhile: nothing changed then, try again later.
    """
    base = table.read()
    groups: dict[tuple[tuple[str, str], ...], list[File]] = {}
    for file in base.files:
        if file.bytes < small_bytes and file.run.startswith(runs):
            groups.setdefault(tuple(sorted(file.partition.items())), []).append(file)
    many = {partition: small for partition, small in groups.items() if len(small) >= _ENOUGH}
    if not many:
        return 0
    directory = table.staging(run)
    for partition, small in many.items():
        below = directory.joinpath(*(f"{name}={value}" for name, value in partition))
        _join([table.directory / file.path for file in small], below / "part-0.parquet")
    gone = [file for small in many.values() for file in small]
    table.replace(base, gone, files.written(table, run, directory), now_ms=now_ms)
    return len(gone)


def _join(parts: list[Path], whole: Path) -> None:
    whole.parent.mkdir(parents=True, exist_ok=True)
    schema = pa.unify_schemas([pq.read_schema(part).remove_metadata() for part in parts])
    with pq.ParquetWriter(whole, schema, compression=_COMPRESSION) as writer:
        for part in parts:
            with pq.ParquetFile(part) as opened:
                for batch in opened.iter_batches():
                    writer.write_batch(batch.cast(schema))
