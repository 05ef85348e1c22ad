"""Tables of the release before: told as such, and after their conversion they hold the same rows."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.history.writing import MANIFESTS, held
from zkdash.history.store import conversion
from zkdash.history.store.delta import Table, TableError
from zkdash.history.store.tables import Tables
from zkdash.pipeline.storage import retention

TOLD: dict[str, Any] = json.loads((MANIFESTS / "told.json").read_text())


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """The directory of the cluster's tables, as the earlier release left them."""
    return Path(shutil.copytree(MANIFESTS / "shop", tmp_path / "shop"))


def as_told(rows: list[dict[str, Any]]) -> list[str]:
    """Rows as the fixture's JSON has them, in a fixed order."""
    return sorted(json.dumps(row, default=lambda data: {"bytes": data.hex()}, sort_keys=True) for row in rows)


def test_an_old_table_is_told_with_what_to_run(shop: Path) -> None:
    sentence = r"coverage is a table of an earlier release: run `zkdash pipeline convert --cluster shop`"
    with pytest.raises(TableError, match=sentence):
        Table(shop / "coverage").read()
    with pytest.raises(TableError, match=sentence):
        Tables(shop, ["coverage"])


def test_rows_and_positions_are_those_of_before(shop: Path) -> None:
    done = conversion.convert(shop)
    assert {each.table: each.rows for each in done} == {
        name: len(each["rows"]) for name, each in TOLD.items()
    }
    for name, each in TOLD.items():
        assert as_told(held(shop, name)) == as_told(each["rows"]), name
        now = Table(shop / name).read()
        assert {key: now.position(key) for key in each["positions"]} == each["positions"], name
    with Tables(shop, ("hot_paths", "changes")) as tables:
        days = tables.rows(
            "SELECT epoch_ms(minute)::DATE::VARCHAR AS day, writes FROM hot_paths "
            "WHERE prefix = '/' ORDER BY 1"
        )
        assert days == [{"day": "2026-11-19", "writes": 5}, {"day": "2026-11-20", "writes": 2}]
    bounds = {"changes": {"zxid_upto": (14, 14)}}
    with Tables(shop, ("changes",), bounds=bounds) as tables:
        assert tables.rows("SELECT path FROM changes") == [{"path": "/brokers/topics/late"}]


def test_a_conversion_that_was_killed_is_done_again_and_a_second_one_finds_nothing(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = (shop / "coverage" / "manifest.json").read_bytes()
    conversion.convert(shop)
    (shop / "coverage" / "manifest.json").write_bytes(manifest)  # it was killed before this was deleted
    version = Table(shop / "coverage").version()
    assert conversion.convert(shop) == []
    assert not list(shop.glob("*/manifest*"))
    assert Table(shop / "coverage").version() == version


def test_converted_tables_are_written_on_and_what_is_listed_no_longer_goes(shop: Path) -> None:
    unlisted = {path for path in (shop / "hot_paths").rglob("*.parquet") if "derived-8" in str(path)}
    conversion.convert(shop)
    listed = set(Table(shop / "hot_paths").paths())
    assert unlisted - listed
    retention.retain(shop, 100_000, now_ms=1_795_046_400_000, grace_ms=0)
    assert set((shop / "hot_paths").rglob("part*.parquet")) == listed
    assert as_told(held(shop, "partition_intervals")) == as_told(TOLD["partition_intervals"]["rows"])
    assert Table(shop / "partition_intervals").delete("date < '2026-11-20' AND to_ms > 0") == 1
    assert [row["leader"] for row in held(shop, "partition_intervals")] == [2]
    assert Table(shop / "kafka_groups").delete("\"group\" = 'nobody'") == 0


def test_rows_of_no_day_are_listed_no_longer(shop: Path) -> None:
    path = shop / "hot_paths" / "manifest.json"
    manifest = json.loads(path.read_bytes())
    day, *files = manifest["files"]
    day["partition"] = {"date": "__HIVE_DEFAULT_PARTITION__"}
    path.write_text(json.dumps(manifest))
    conversion.convert(shop)
    assert len(Table(shop / "hot_paths").read().files) == len(files)


def test_a_manifest_that_cannot_be_read_is_told_with_what_to_do(shop: Path) -> None:
    path = shop / "changes" / "manifest.json"
    path.write_text('{"format": 1, "files": 3')
    with pytest.raises(TableError, match=r"manifest\.json cannot be read .*: restore it, or remove"):
        conversion.convert(shop)
    path.write_text('{"format": 2}')
    with pytest.raises(TableError, match="has format 2, where 1 is known: upgrade zkdash"):
        conversion.convert(shop)
    assert pq.read_table(next((shop / "changes").rglob("*.parquet"))).num_rows
