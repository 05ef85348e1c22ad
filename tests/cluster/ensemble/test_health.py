"""What is said of an ensemble, rule by rule, and that a sound one has nothing said of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from zkdash.cluster.ensemble import advisories, health
from zkdash.cluster.ensemble.values import Ailment, Thresholds
from zkdash.cluster.model.severity import Severity
from zkdash.formats.ensemble.values import Look, Member, Membership, Reach, Server, Told

LIMITS = Thresholds()


def server(number: int, mode: str | None = "follower", **told: Any) -> Server:
    """A server zkN:2181 of 3.9.5 that serves as `mode`."""
    zxid = told.pop("zxid", 0x100000001)
    return Server(
        f"zk{number}:2181",
        Reach.SERVING,
        told=Told("3.9.5", mode, zxid=zxid, **told),
        is_read_only=False,
    )


def dead(number: int, reach: Reach = Reach.DOWN) -> Server:
    return Server(f"zk{number}:2181", reach, f"zk{number}:2181 does not answer")


def leader(number: int = 1, synced: int | None = None, **told: Any) -> Server:
    return server(number, "leader", synced_followers=synced, **told)


def members(count: int) -> Membership:
    return Membership(tuple(Member(one, f"zk{one}", is_voter=True) for one in range(1, count + 1)))


def judged(*servers: Server, membership: Membership | None = None) -> dict[str, Ailment]:
    found = health.examine(health.History(), Look(100.0, servers, membership), LIMITS)[1]
    return {one.id: one for one in found}


def over_time(looks: Sequence[tuple[float, Sequence[Server]]]) -> list[set[str]]:
    """The rules that each of the looks, one after another, breaks."""
    history, broken = health.History(), []
    for at, servers in looks:
        history, found = health.examine(history, Look(at, tuple(servers)), LIMITS)
        broken.append({one.id for one in found})
    return broken


SOUND = (leader(1, 2), server(2), server(3))


def test_a_sound_ensemble_has_nothing_said_of_it() -> None:
    assert judged(*SOUND) == judged(*SOUND, membership=members(3)) == {}


def test_before_the_first_look_nothing_is_said() -> None:
    assert health.examine(health.History(), Look(), LIMITS) == (health.History(), ())


def test_no_leader_is_critical() -> None:
    found = judged(*(dead(number, Reach.NOT_SERVING) for number in (1, 2, 3)))
    assert found["no-leader"].severity is Severity.CRITICAL
    assert found["majority"].severity is Severity.CRITICAL
    assert "3 of 3 voters do not serve" in found["majority"].sentence


def test_two_leaders_are_critical() -> None:
    found = judged(leader(1, 1), leader(2, 1), server(3))
    assert found["two-leaders"].severity is Severity.CRITICAL
    assert "zk1:2181 and zk2:2181" in found["two-leaders"].sentence


def test_whose_mode_may_not_be_told_may_lead() -> None:
    found = judged(server(1), server(2), dead(3, Reach.NOT_ALLOWED))
    assert found["no-leader"].severity is Severity.UNKNOWN
    assert "zk3:2181" in found["no-leader"].sentence
    assert "majority" not in found


def test_who_follows_follows_a_leader_that_is_not_named() -> None:
    found = judged(server(1), server(2), dead(3))
    assert found["no-leader"].severity is Severity.UNKNOWN
    assert found["bare-majority"].severity is Severity.WARNING


def test_a_majority_is_the_leaders_word_where_it_gives_it() -> None:
    """Who cannot be reached from here may be in sync all the same."""
    found = judged(leader(1, 2), dead(2), dead(3))
    assert set(found) == {"down"}
    found = judged(leader(1, 1), server(2), dead(3))
    assert set(found) == {"bare-majority", "out-of-sync", "down"}
    assert "1 of 2 followers are in sync" in found["out-of-sync"].sentence


def test_without_the_leaders_word_it_is_who_can_be_reached() -> None:
    assert set(judged(leader(1), server(2), dead(3))) == {"bare-majority", "down"}
    assert judged(leader(1), dead(2), dead(3))["majority"].severity is Severity.CRITICAL


def test_members_that_are_not_asked_count_as_voters() -> None:
    unasked = Server("zk3 (server.3)", Reach.UNASKED, myid=3, is_voter=True, is_configured=False)
    found = judged(leader(1), server(2), unasked, membership=members(3))
    assert set(found) == {"unasked"}


def test_observers_do_not_vote() -> None:
    observer = server(4, "observer")
    assert judged(*SOUND, observer) == {}
    four = Membership((*members(3).members, Member(4, "zk4", is_voter=False)))
    assert judged(*SOUND, msgspec.structs.replace(observer, is_voter=False), membership=four) == {}


def test_an_even_number_of_voters_is_told_where_it_is_known() -> None:
    four = (leader(1, 3), server(2), server(3), server(4))
    assert judged(*four) == {}
    assert judged(*four, membership=members(4))["even"].severity is Severity.INFO


def test_weighed_votes_are_not_counted() -> None:
    weighed = msgspec.structs.replace(members(3), has_groups=True)
    assert "bare-majority" not in judged(leader(1, 1), server(2), dead(3), membership=weighed)


def test_a_server_alone_is_a_warning_and_several_alone_are_no_ensemble() -> None:
    alone = server(1, "standalone")
    found = judged(alone)["standalone"]
    assert (found.severity, found.server) == (Severity.WARNING, "zk1:2181")
    assert judged(alone, server(2, "standalone"))["apart"].severity is Severity.CRITICAL


def test_one_follower_that_is_named_alone_says_nothing_of_the_others() -> None:
    assert judged(server(1)) == {}
    assert judged(dead(1))["majority"].severity is Severity.CRITICAL


@pytest.mark.parametrize(
    ("one", "rule", "severity"),
    [
        (dead(3), "down", Severity.WARNING),
        (dead(3, Reach.NOT_SERVING), "not-serving", Severity.WARNING),
        (dead(3, Reach.STRANGE), "strange", Severity.WARNING),
        (dead(3, Reach.NOT_ALLOWED), "not-allowed", Severity.INFO),
        (msgspec.structs.replace(server(3), refused=("mntr",)), "not-allowed", Severity.INFO),
        (msgspec.structs.replace(server(3), is_read_only=True), "read-only", Severity.WARNING),
        (server(3, "read-only"), "read-only", Severity.WARNING),
        (server(3, latency_avg=50.1), "latency", Severity.WARNING),
        (server(3, descriptors=86, max_descriptors=100), "descriptors", Severity.WARNING),
        (server(3, max_proposal=1_000_000), "buffer", Severity.WARNING),
    ],
)
def test_each_fault_of_a_server_is_told_with_its_name(one: Server, rule: str, severity: Severity) -> None:
    found = judged(leader(1, 2), server(2), one)
    assert found[rule].severity is severity
    assert found[rule].server == "zk3:2181"
    assert "zk3:2181" in found[rule].sentence


def test_on_the_threshold_nothing_is_said() -> None:
    one = server(3, latency_avg=50.0, descriptors=85, max_descriptors=100, outstanding=10, pending_syncs=0)
    assert judged(leader(1, 2), server(2), one) == {}


def test_requests_that_wait_for_a_minute_are_told() -> None:
    busy, calm = (leader(1, 2), server(2), server(3, outstanding=11)), SOUND
    assert over_time([(0, busy), (59, busy), (60, busy), (70, calm), (80, busy)]) == [
        set(),
        set(),
        {"outstanding"},
        set(),
        set(),
    ]


def test_syncs_that_are_owed_for_a_minute_are_told() -> None:
    owing = (leader(1, 2, pending_syncs=1), server(2), server(3))
    assert over_time([(0, owing), (60, owing)]) == [set(), {"pending-syncs"}]


def test_a_server_is_behind_where_it_stays_behind_where_another_was_a_round_ago() -> None:
    """The servers are not asked at one moment: who follows a busy leader closely is not behind."""
    close = [
        (at, (leader(1, 2, zxid=0x100000000 + 1000 * at), server(2, zxid=0x100000000 + 1000 * at - 900)))
        for at in (10, 20, 30, 40)
    ]
    assert over_time(close) == [set()] * 4
    stuck = [
        (at, (leader(1, 2, zxid=0x100000000 + at), server(2, zxid=0x100000001))) for at in (10, 20, 30, 40)
    ]
    assert over_time(stuck) == [set(), set(), {"behind"}, {"behind"}]


def test_an_ensemble_whose_history_began_anew_is_not_behind_itself() -> None:
    looks = [(10.0, (leader(1, 2, zxid=0x900000000), server(2), server(3)))]
    looks += [(at, (leader(1, 2, zxid=5), server(2, zxid=5), server(3, zxid=5))) for at in (20.0, 30.0, 40.0)]
    assert "behind" not in set().union(*over_time(looks)[1:])


def test_a_leader_that_is_elected_again_and_again_is_told() -> None:
    looks = [(at * 60.0, (leader(1, 2, zxid=at << 32), *SOUND[1:])) for at in range(1, 5)]
    assert [("elections" in one) for one in over_time(looks)] == [False, False, False, True]


def test_sizes_that_jump_are_told_and_growth_of_a_small_tree_is_not() -> None:
    def at(size: int, znodes: int) -> tuple[Server, ...]:
        return (leader(1, 2, data_size=size, znodes=znodes), *SOUND[1:])

    assert over_time([(0, at(20 << 20, 50_000)), (600, at(31 << 20, 20_000))])[1] == {
        "jump-data",
        "jump-znodes",
    }
    assert over_time([(0, at(20 << 20, 50_000)), (600, at(29 << 20, 60_000))])[1] == set()
    assert over_time([(0, at(100, 5)), (600, at(1000, 500))])[1] == set()
    assert over_time([(0, at(20 << 20, 5)), (4000, at(40 << 20, 5))])[1] == set()


def test_different_versions_are_told_with_who_runs_them() -> None:
    old = msgspec.structs.replace(server(3), told=Told("3.9.4", "follower", zxid=0x100000001))
    found = judged(leader(1, 2), server(2), old)
    assert found["versions"].severity is Severity.INFO
    assert found["versions"].sentence == (
        "The servers run different versions: 3.9.4 on zk3:2181; 3.9.5 on zk1:2181, zk2:2181."
    )


def test_what_is_worst_comes_first() -> None:
    found = health.examine(
        health.History(), Look(1.0, (leader(1, 1), leader(2, 1), dead(3), dead(4, Reach.NOT_ALLOWED))), LIMITS
    )[1]
    assert [one.severity.rank for one in found] == sorted(one.severity.rank for one in found)
    assert found[0].severity is Severity.CRITICAL


@pytest.mark.parametrize(
    ("version", "holes"),
    [
        ("3.4.6", {"CVE-2023-44981", "CVE-2019-0201", "CVE-2018-8012"}),
        ("3.4.13", {"CVE-2023-44981", "CVE-2019-0201"}),
        ("3.4.14", {"CVE-2023-44981"}),
        ("3.5.3-beta", {"CVE-2023-44981", "CVE-2019-0201", "CVE-2018-8012"}),
        ("3.5.9", {"CVE-2023-44981"}),
        ("3.6.4", {"CVE-2023-44981", "CVE-2024-23944"}),
        ("3.7.1", {"CVE-2023-44981", "CVE-2024-23944"}),
        ("3.7.2", {"CVE-2024-23944"}),
        ("3.8.2", {"CVE-2023-44981", "CVE-2024-23944"}),
        ("3.8.3", {"CVE-2024-23944"}),
        ("3.8.4", set()),
        ("3.9.0", {"CVE-2023-44981", "CVE-2024-23944"}),
        ("3.9.1", {"CVE-2024-23944"}),
        ("3.9.2", set()),
        ("4.0.0", set()),
        ("", set()),
    ],
)
def test_each_version_has_the_holes_that_were_closed_after_it(version: str, holes: set[str]) -> None:
    assert {one.cve for one in advisories.of(version)} == holes


def test_a_known_hole_is_told_with_where_it_is_closed() -> None:
    old = msgspec.structs.replace(server(3), told=Told("3.8.3", "follower", zxid=0x100000001))
    found = judged(leader(1, 2), server(2), old)["CVE-2024-23944"]
    assert found.severity is Severity.WARNING
    assert "ZooKeeper 3.8.3 (zk3:2181)" in found.sentence
    assert found.sentence.endswith("closed in 3.8.4 or 3.9.2.")
