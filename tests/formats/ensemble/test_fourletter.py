"""Answers to srvr, mntr and isro: of real servers of several releases, and of hostile ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkdash.formats.ensemble import fourletter
from zkdash.formats.ensemble.fourletter import Refusal
from zkdash.formats.ensemble.values import Told

SRVR_34 = b"""Zookeeper version: 3.4.14-4c25d480e66aadd371de8bd2fd8da255ac140bcf, built on 03/06/2019 16:18
Latency min/avg/max: 0/2/45
Received: 128
Sent: 127
Connections: 3
Outstanding: 1
Zxid: 0x100000002
Mode: follower
Node count: 4
"""
SRVR_39 = b"""Zookeeper version: 3.9.3-c26634f34490bb0ea7a09cc51e05ede3b4e320ee, built on 2024-10-17 23:21 UTC
Latency min/avg/max: 0/0.4286/3
Received: 8
Sent: 7
Connections: 1
Outstanding: 0
Zxid: 0x200000000
Mode: leader
Node count: 5
Proposal sizes last/min/max: 48/48/312
"""
MNTR_34 = b"""zk_version\t3.4.14-4c25d480e66aadd371de8bd2fd8da255ac140bcf, built on 03/06/2019 16:18 GMT
zk_avg_latency\t2
zk_max_latency\t45
zk_min_latency\t0
zk_packets_received\t130
zk_num_alive_connections\t3
zk_outstanding_requests\t1
zk_server_state\tleader
zk_znode_count\t4
zk_watch_count\t12
zk_ephemerals_count\t2
zk_approximate_data_size\t27
zk_open_file_descriptor_count\t31
zk_max_file_descriptor_count\t1048576
zk_fsync_threshold_exceed_count\t0
zk_followers\t2
zk_synced_followers\t2
zk_pending_syncs\t0
zk_last_proposal_size\t48
zk_max_proposal_size\t112
"""
MNTR_39 = b"""zk_version\t3.9.3-c26634f34490bb0ea7a09cc51e05ede3b4e320ee, built on 2024-10-17 23:21 UTC
zk_server_state\tleader
zk_ephemerals_count\t0
zk_avg_latency\t0.4286
zk_num_alive_connections\t1
zk_outstanding_requests\t0
zk_znode_count\t5
zk_watch_count\t0
zk_approximate_data_size\t182
zk_open_file_descriptor_count\t-1
zk_learners\t3
zk_synced_followers\t2
zk_pending_syncs\t1.0
zk_quorum_size\t3.0
zk_p99_dead_watchers_cleaner_latency\t0.0
jvm_memory_bytes_used{area="heap"}\tNaN
"""
REFUSED = b"mntr is not executed because it is not in the whitelist.\n"
NOT_SERVING = b"This ZooKeeper instance is not currently serving requests\n"


def test_srvr_of_3_4_tells_whole_milliseconds() -> None:
    assert fourletter.srvr(SRVR_34) == Told(
        "3.4.14", "follower", 0.0, 2.0, 45.0, connections=3, outstanding=1, zxid=0x100000002, znodes=4
    )


def test_srvr_of_3_9_tells_decimals() -> None:
    assert fourletter.srvr(SRVR_39) == Told(
        "3.9.3", "leader", 0.0, 0.4286, 3.0, connections=1, outstanding=0, zxid=0x200000000, znodes=5
    )


def test_mntr_of_3_4_counts_followers() -> None:
    assert fourletter.mntr(MNTR_34) == Told(
        "3.4.14",
        "leader",
        0.0,
        2.0,
        45.0,
        connections=3,
        outstanding=1,
        znodes=4,
        watches=12,
        ephemerals=2,
        data_size=27,
        descriptors=31,
        max_descriptors=1_048_576,
        learners=2,
        synced_followers=2,
        pending_syncs=0,
        max_proposal=112,
    )


def test_mntr_of_3_9_counts_learners_and_what_a_server_does_not_know_is_not_told() -> None:
    assert fourletter.mntr(MNTR_39) == Told(
        "3.9.3",
        "leader",
        latency_avg=0.4286,
        connections=1,
        outstanding=0,
        znodes=5,
        watches=0,
        ephemerals=0,
        data_size=182,
        learners=3,
        synced_followers=2,
        pending_syncs=1,
    )


def test_a_server_that_may_not_tell_is_not_one_that_serves_nobody() -> None:
    assert (
        fourletter.mntr(REFUSED)
        is fourletter.srvr(REFUSED)
        is fourletter.isro(REFUSED)
        is Refusal.NOT_ALLOWED
    )
    assert fourletter.mntr(NOT_SERVING) is fourletter.srvr(NOT_SERVING) is Refusal.NOT_SERVING
    assert fourletter.isro(b"null") is Refusal.NOT_SERVING


def test_isro_tells_whether_a_server_is_read_only() -> None:
    assert (fourletter.isro(b"ro"), fourletter.isro(b"rw\n")) == (True, False)


@pytest.mark.parametrize(
    "answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\xff\x00" * 99, b"Mode: king\n"]
)
def test_what_no_zookeeper_says_is_strange(answer: bytes) -> None:
    assert fourletter.srvr(answer) is Refusal.STRANGE
    assert fourletter.mntr(answer) is Refusal.STRANGE
    assert fourletter.isro(answer) is Refusal.STRANGE


@pytest.mark.parametrize(
    "number", ["9" * 5000, "-1", "1e999", "NaN", "inf", "0x10", "1_0", "١", "", "12 apples", str(1 << 63)]
)
def test_what_is_no_count_is_not_told(number: str) -> None:
    found = fourletter.mntr(f"zk_znode_count\t{number}\nzk_server_state\tleader\n".encode())
    assert found == Told(mode="leader")


def test_a_server_writes_decimals_as_its_locale_does() -> None:
    assert fourletter.srvr(b"Latency min/avg/max: 0/0,5/3\n") == Told(
        latency_min=0.0, latency_avg=0.5, latency_max=3.0
    )


def test_of_what_both_tell_the_second_counts() -> None:
    one, other = Told(version="3.9.3", zxid=1), Told(zxid=2, mode="leader")
    assert fourletter.merge(one, other) == Told(version="3.9.3", zxid=2, mode="leader")


@given(st.binary(max_size=300), st.sampled_from([b"zk_znode_count\t", b"Zxid: 0x", b"Latency: ", b""]))
def test_no_answer_raises(data: bytes, before: bytes) -> None:
    for read in (fourletter.srvr, fourletter.mntr, fourletter.isro):
        read(before + data)
