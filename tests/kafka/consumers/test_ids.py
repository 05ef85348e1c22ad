"""Consumer ids and thread ids, read from the right."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from zkdash.kafka.consumers import ids as consumer_ids
from zkdash.kafka.consumers.ids import ConsumerId, ThreadId


def test_an_id_made_by_kafka_tells_host_start_and_suffix() -> None:
    made = "console-consumer-2304_hadoop2-1525747915241-6b48ff32"
    assert consumer_ids.parse_consumer(made, "console-consumer-2304") == ConsumerId(
        made, host="hadoop2", started=1525747915241, suffix="6b48ff32"
    )


def test_group_and_host_may_hold_underscores_and_hyphens() -> None:
    made = "my_group-1_web-1_b.example-99-1525747915241-6b48ff32"
    found = consumer_ids.parse_consumer(made, "my_group-1")
    assert (found.host, found.started, found.suffix) == ("web-1_b.example-99", 1525747915241, "6b48ff32")


def test_an_id_that_the_operator_set_tells_neither_host_nor_start() -> None:
    found = consumer_ids.parse_consumer("g_fixed-1", "g")
    assert (found.custom, found.host, found.started) == ("fixed-1", None, None)
    assert "consumer.id" in str(found.reason)


def test_an_id_of_another_group_says_so() -> None:
    found = consumer_ids.parse_consumer("other_h-1525747915241-6b48ff32", "g")
    assert found.host is None
    assert "g_" in str(found.reason)


def test_the_suffix_is_eight_hexadecimal_digits_in_ascii() -> None:
    for odd in ("g_h-1-6B48FF32", "g_h-1-6b48ff3", "g_h-١-6b48ff32", "g_h--6b48ff32", "g_h-1-6b48ff32\n"):
        assert consumer_ids.parse_consumer(odd, "g").custom == odd[2:]


def test_a_thread_is_its_consumer_and_a_number() -> None:
    assert consumer_ids.parse_thread("g_h-1-6b48ff32-11") == ThreadId(
        "g_h-1-6b48ff32-11", consumer="g_h-1-6b48ff32", number=11
    )


def test_what_is_no_thread_says_why() -> None:
    for odd in ("", "g_h", "g-", "-1", "g-x", "g-1\n"):
        found = consumer_ids.parse_thread(odd)
        assert (found.consumer, found.number) == (None, None)
        assert found.reason


@given(consumer=st.text(min_size=1), count=st.integers(1, 12))
def test_the_threads_of_any_consumer_lead_back_to_it(consumer: str, count: int) -> None:
    found = [consumer_ids.parse_thread(thread) for thread in consumer_ids.thread_ids(consumer, count)]
    assert [(one.consumer, one.number) for one in found] == [(consumer, number) for number in range(count)]


@given(text=st.text(), group=st.text())
def test_any_text_is_taken_apart_or_says_why(text: str, group: str) -> None:
    found = consumer_ids.parse_consumer(text, group)
    assert (found.host is None) == (found.reason is not None)
