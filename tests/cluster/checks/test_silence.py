"""Why a check says nothing of a cluster: it is not for such a one, or cannot know."""

from __future__ import annotations

import pytest

from tests.cluster import small
from zkdash.cluster import checks
from zkdash.cluster.checks import CheckContext, Silence
from zkdash.cluster.checks.facts import NONE, Facts
from zkdash.znode import Acl, Unreadable

OF_07 = {"/brokers/ids/1": small.znode("h-1:h:9092", owner=small.SESSION)}
ANYBODY = (Acl(31, "world", "anyone"),)
REFUSED = Unreadable("no rights to read it")
NOT_KNOWN = "The ACLs of Kafka’s znodes are not known"
NO_GROUPS = "No group keeps its state in ZooKeeper"
OF_GROUPS = ("D39", "D40", "D41", "D42", "D43", "D44", "D45", "D46", "D47", "D48")


@pytest.mark.parametrize(
    ("check", "tree", "facts", "why", "is_unknown"),
    [
        *((check, small.broker(1), NONE, NO_GROUPS, False) for check in OF_GROUPS),
        *(
            (check, OF_07, NONE, "Nothing of 0.8 or later is there, and 0.7 has no controller", False)
            for check in ("D18", "D20", "D21")
        ),
        ("D19", OF_07, NONE, "There is no /controller", False),
        ("D19", {"/controller": small.znode("{")}, NONE, "/controller does not parse", True),
        ("D56", small.topic("t", {0: [1]}), NONE, "No topic has a topic_id", False),
        ("D60", OF_07, NONE, "No broker of 0.10 or later is registered", False),
        ("D61", OF_07, NONE, "There is no /feature", False),
        ("D52", OF_07, NONE, NOT_KNOWN, True),
        ("D53", OF_07, NONE, NOT_KNOWN, True),
        ("D52", OF_07, Facts({"/brokers": REFUSED}), NOT_KNOWN, True),
        ("D53", OF_07, Facts({"/brokers": REFUSED}), NOT_KNOWN, True),
        (
            "D53",
            OF_07,
            Facts({"/consumers": ANYBODY}),
            "None of the znodes is there that Kafka protects",
            False,
        ),
        ("D52", OF_07, Facts({"/brokers": ANYBODY}), "No znode of Kafka’s is protected by an ACL", False),
    ],
)
def test_it_says_why(check: str, tree: small.Tree, facts: Facts, why: str, is_unknown: bool) -> None:
    state = small.built(tree)
    assert checks.BY_ID[check].causes(CheckContext(state, facts)) == Silence(why, is_unknown)
    seen = checks.observe(checks.Observations(), state, 100, facts)
    assert seen.looked[check].silence == Silence(why, is_unknown)
    assert check not in seen.passing
    assert check not in {finding.check for finding in seen.findings}
    # the very same while nothing changes, and one of its own once another reason holds
    later = checks.observe(seen, state, 102, facts)
    assert later.looked[check].silence is seen.looked[check].silence


def test_a_reason_gives_way_to_another_and_to_causes() -> None:
    seen = checks.observe(checks.Observations(), small.built(OF_07), 100)
    unparsable = small.built(OF_07, {"/controller": small.znode("{")})
    seen = checks.observe(seen, unparsable, 102)
    assert seen.looked["D19"].silence == Silence("/controller does not parse", is_unknown=True)
    dead = small.built(OF_07, {"/controller": small.znode('{"version": 1, "brokerid": 9, "timestamp": "1"}')})
    seen = checks.observe(seen, dead, 104)
    assert (seen.looked["D19"].silence, list(seen.looked["D19"].causes or ())) == (None, ["/controller"])
    seen = checks.observe(seen, small.built(OF_07), 106)
    assert seen.looked["D19"].silence == Silence("There is no /controller")
