"""Who is asked about next."""

from __future__ import annotations

from collections import Counter

from zkdash.broker.interest import Interest


def interest(*, often: int = 100, slow: int = 10) -> Interest:
    return Interest(every_s=5.0, slow_s=60.0, lease_s=30.0, often=often, slow=slow)


def one(_: str) -> int:
    return 1


def test_a_new_look_is_answered_at_once_and_then_every_round() -> None:
    looks = interest()
    looks.due(0.0, one)
    looks.want(["orders"], 1.0)
    assert looks.due(1.1, one) == ["orders"]
    assert looks.due(2.0, one) == []
    assert looks.due(5.0, one) == ["orders"]
    assert looks.due(6.0, one) == []


def test_new_looks_between_rounds_share_what_the_round_left() -> None:
    looks = interest(often=10)
    looks.due(0.0, one)
    looks.want([f"a{n}" for n in range(8)], 1.0)
    assert len(looks.due(1.0, one)) == 8
    looks.want([f"b{n}" for n in range(8)], 2.0)
    assert len(looks.due(2.0, one)) == 2
    assert len(looks.due(3.0, one)) == 0
    assert {name[0] for name in looks.due(5.0, one)[:6]} == {"b"}


def test_a_look_ends_with_its_lease() -> None:
    looks = interest()
    looks.want(["orders"], 0.0)
    looks.due(0.0, one)
    assert looks.due(29.0, one) == ["orders"]
    assert looks.due(35.0, one) == []
    assert looks.forget(35.0) == {"orders"}
    assert looks.forget(36.0) == set()


def test_more_looks_than_a_round_takes_are_asked_in_turn() -> None:
    looks = interest(often=10)
    names = [f"t{n:02}" for n in range(25)]
    asked: Counter[str] = Counter()
    for second in range(0, 50, 5):
        looks.want(names, float(second))
        found = looks.due(float(second), one)
        assert len(found) <= 10
        asked.update(found)
    assert set(asked) == set(names)
    assert max(asked.values()) - min(asked.values()) <= 1


def test_a_name_larger_than_a_round_is_asked_alone() -> None:
    looks = interest(often=10, slow=10)
    looks.want(["huge", "small"], 0.0)
    assert looks.due(0.0, lambda name: 5_000 if name == "huge" else 1) == ["huge"]
    looks.keep(["vast", "wide"])
    assert looks.due(35.0, lambda _: 5_000) == ["vast"]


def test_what_is_kept_comes_round_slowly_and_once_a_cycle() -> None:
    looks = interest(slow=10)
    names = [f"t{n:02}" for n in range(25)]
    looks.keep(names)
    rounds = [looks.due(float(second), one) for second in range(0, 60, 5)]
    assert [len(found) for found in rounds] == [10, 10, 5] + [0] * 9
    assert sorted(name for found in rounds for name in found) == names
    assert len(looks.due(60.0, one)) == 10


def test_what_is_looked_at_does_not_come_in_the_slow_round_too() -> None:
    looks = interest()
    looks.keep(["orders", "clicks"])
    looks.want(["orders"], 0.0)
    assert sorted(looks.due(0.0, one)) == ["clicks", "orders"]


def test_a_look_that_was_never_asked_about_is_forgotten_too() -> None:
    looks = interest()
    looks.want(["orders"], 0.0)
    assert looks.forget(31.0) == {"orders"}


def test_what_is_kept_no_longer_is_forgotten() -> None:
    looks = interest()
    looks.keep(["orders", "clicks"])
    looks.due(0.0, one)
    looks.keep(["orders"])
    assert looks.forget(1.0) == {"clicks"}


def test_who_is_to_be_asked_again_is_so_in_the_next_round_and_leaves_others_half_of_it() -> None:
    looks = interest(slow=4)
    looks.keep([f"a{n}" for n in range(8)])
    assert looks.due(0.0, one) == ["a0", "a1", "a2", "a3"]
    looks.again(["a3", "a2", "a1", "unheard-of"])
    assert looks.due(1.0, one) == []
    assert looks.due(5.0, one) == ["a3", "a2", "a4", "a5"]
    assert looks.due(10.0, one) == ["a6", "a7"]
