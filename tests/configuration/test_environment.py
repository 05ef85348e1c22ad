from __future__ import annotations

from zkdash.configuration.environment import NAMES, SUBJECTS, strangers


def test_each_variable_is_declared_once() -> None:
    declared = [variable.name for subject in SUBJECTS for variable in subject.variables]
    assert len(declared) == len(NAMES)


def test_a_name_that_looks_like_ours_and_is_none_is_told_with_its_neighbour() -> None:
    assert strangers([*NAMES, "PATH", "ZKDASH_FAILPOINT"]) == []
    assert strangers(["ZKDASH_PROXY", "ZKDASH_QQQQ"]) == [
        ("ZKDASH_PROXY", "ZKDASH_PROXIES"),
        ("ZKDASH_QQQQ", ""),
    ]
