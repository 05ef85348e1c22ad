from __future__ import annotations

import pytest

from zkdash.kafka.configs import option_units, topic_options
from zkdash.kafka.configs.topic_option_defaults import DEFAULTS


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("retention.ms", "1209600000", "14 d"),
        ("retention.ms", "5400000", "about 1.5 h"),
        ("retention.ms", "-1", "no limit"),
        ("retention.ms", "999", ""),
        ("flush.ms", "9223372036854775807", "never"),
        ("segment.bytes", "1073741824", "1 GiB"),
        ("max.message.bytes", "1048588", "about 1 MiB"),
        ("local.retention.bytes", "-2", ""),
        ("leader.replication.throttled.rate", "52428800", "50 MiB/s"),
        ("min.insync.replicas", "1000000", ""),
        ("cleanup.policy", "delete", ""),
        ("retention.ms", "9" * 40, ""),
        ("retention.ms", "١", ""),
        ("retention.ms", "", ""),
    ],
)
def test_a_number_is_told_in_units_where_its_option_has_any(name: str, value: str, words: str) -> None:
    assert option_units.words(name, value) == words


def test_every_option_has_a_default_that_it_can_have() -> None:
    assert set(DEFAULTS) == set(topic_options.KNOWN)
    assert {
        name: fault for name, value in DEFAULTS.items() if (fault := topic_options.fault(name, value))
    } == {}
