from __future__ import annotations

from zkdash.kafka.topics import options as topic_options
from zkdash.kafka.topics.option_meanings import MEANINGS


def test_each_known_option_of_a_topic_says_what_it_does() -> None:
    assert set(MEANINGS) == topic_options.KNOWN
