"""What the cluster as a whole keeps: features, the state of a migration, blocks of producer ids."""

from __future__ import annotations

import pytest

from zkdash.kafka.layouts.features import parse_features
from zkdash.kafka.layouts.migration import parse_migration
from zkdash.kafka.layouts.producer_ids import parse_producer_ids
from zkdash.kafka.values import Features, Migration, ProducerIds, Unparsable


@pytest.mark.parametrize(
    ("data", "features"),
    [
        (b'{"features":{},"version":2,"status":1}', Features(2, 1, {})),
        (
            b'{"version":1,"status":0,"features":{"f":{"min_version_level":1,"max_version_level":2}}}',
            Features(1, 0, {"f": (1, 2)}),
        ),
        (
            b'{"version":2,"status":1,"features":{"f":{"max_version_level":2}}}',
            Features(2, 1, {"f": (None, 2)}),
        ),
    ],
    ids=["3.9.1", "v1", "v2"],
)
def test_each_version_of_the_features_is_read(data: bytes, features: Features) -> None:
    assert parse_features(data) == (features, ())


def test_an_unknown_status_is_kept_and_said() -> None:
    assert parse_features(b'{"version":2,"status":-1,"features":{}}') == (
        Features(2, -1, {}),
        ("status -1 is not known (0 is disabled, 1 is enabled)",),
    )


def test_a_feature_without_levels_is_left_out_and_said() -> None:
    data = b'{"version":2,"status":1,"features":{"a":{"max_version_level":"3"},"b":{"max_version_level":3}}}'
    assert parse_features(data) == (
        Features(2, 1, {"b": (None, 3)}),
        ('the levels of feature "a" are no numbers',),
    )


def test_features_without_a_status_are_unparsable() -> None:
    assert parse_features(b'{"version":2,"features":{}}')[0] == Unparsable('"status" is missing')


def test_a_migration_that_has_not_begun_is_read() -> None:
    data = (
        b'{"version":0,"kraft_controller_id":-1,"kraft_controller_epoch":-1,'
        b'"kraft_metadata_offset":-1,"kraft_metadata_epoch":-1}'
    )
    assert parse_migration(data) == (Migration(-1, -1, -1, -1), ())


def test_a_migration_without_a_controller_is_unparsable() -> None:
    data = (
        b'{"version":0,"kraft_controller_epoch":1,"kraft_metadata_offset":9223372036854775807,'
        b'"kraft_metadata_epoch":1}'
    )
    assert parse_migration(data)[0] == Unparsable('"kraft_controller_id" is missing')


def test_a_block_of_producer_ids_is_read_from_text_and_from_numbers() -> None:
    for start, end in (('"4000"', '"4999"'), ("4000", "4999")):
        data = f'{{"version":1,"broker":3,"block_start":{start},"block_end":{end}}}'
        assert parse_producer_ids(data.encode()) == (ProducerIds(3, 4000, 4999), ())


@pytest.mark.parametrize("data", [None, b""])
def test_before_the_first_block_of_producer_ids_there_is_nothing_to_read(data: bytes | None) -> None:
    assert parse_producer_ids(data) == (None, ())
