"""The owners that a group should have, beside those that it has."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.rebalance import assignment_inputs, following, partial, verdicts
from zkdash.cluster.rebalance.following import Claims
from zkdash.cluster.rebalance.values import AssignmentInputs, Expectation
from zkdash.kafka.assignment import rules
from zkdash.kafka.assignment.assignment_context import PartitionAssignment
from zkdash.kafka.assignment.rules import Rule

# Kafka's own: rebalance.max.retries (4) times rebalance.backoff.ms (2 000).
WINDOW_MS = 8_000
MANY_PARTITIONS = 10_000

Threads = Mapping[str, Collection[str]]
Plans = Mapping[Rule, PartitionAssignment]


def expect(
    state: ClusterState, group: Group, now: int, *, changed: int | None = None, tries_all: bool = True
) -> Expectation:
    """What is expected of a group at `now` (epoch milliseconds).

    A member that left leaves no trace in the group's znodes: who saw one leave says when by `changed`. Unless
    it `tries_all`, no other rule is tried of a group that follows the default: its verdicts are the same.
    """
    demand = assignment_inputs.of_group(state, group)
    claims = _claims(group)
    threads = {topic: frozenset(ids) for topic, ids in demand.demand.threads.items()}
    plans = _plans(demand, claims, threads, tries_all=tries_all)
    matching = _matching(plans, demand, claims, threads)
    rule = matching[0] if matching else None
    against = rule or _nearest(plans, claims, is_07=demand.is_07)
    plan = plans.get(against, PartitionAssignment({}))
    moved = _changed(group, changed)
    return Expectation(
        group=group.name,
        inputs=demand,
        plans=plans,
        rule=rule,
        matching=matching,
        against=against,
        parts=tuple(verdicts.judge(group, demand, plan, doubt=_doubt(demand, rule))),
        idle=_idle(plan, threads) if plans else (),
        followed=following.by_member(plans, group.members, claims) if claims and not rule else {},
        may_differ=tuple(_differences(plans, matching)),
        changed=moved,
        rebalancing=moved is not None and abs(now - moved) <= WINDOW_MS,
        partial=partial.reason(state, group, plans.values()),
    )


def _plans(
    demand: AssignmentInputs, claims: Claims, threads: Threads, *, tries_all: bool
) -> dict[Rule, PartitionAssignment]:
    """The plan of every rule that may apply, nothing where there is none to tell.

    Round robin is over all topics at once: where one is open, so is all of it. Where a group follows
    the default, no other rule is tried of one of many partitions, nor of any unless it `tries_all`.
    """
    if not demand.is_clear:
        return {}
    default, *others = rules.RULES_07 if demand.is_07 else rules.RULES_08
    plans = {default: rules.assign(default, demand.demand)}
    tries_all = tries_all and sum(map(len, demand.demand.partitions.values())) <= MANY_PARTITIONS
    if not tries_all and _matching(plans, demand, claims, threads):
        return plans
    for rule in others:
        if not (rule.is_round_robin and demand.open_topics):
            plans[rule] = rules.assign(rule, demand.demand)
    return plans


def _claims(group: Group) -> Claims:
    return {
        topic: {key: owner.thread for key, owner in owners.items() if isinstance(owner.thread, str)}
        for topic, owners in group.owners.items()
    }


def _matching(plans: Plans, demand: AssignmentInputs, claims: Claims, threads: Threads) -> tuple[Rule, ...]:
    """The rules that all owners follow, Kafka's before the documents'; none where nothing is owned."""
    determined = {topic: ids for topic, ids in threads.items() if topic not in demand.open_topics}
    if not any(claims.get(topic) for topic in determined):
        return ()
    return tuple(
        rule for rule, plan in plans.items() if following.matches(plan, demand.demand, claims, determined)
    )


def _nearest(plans: Plans, claims: Claims, *, is_07: bool) -> Rule:
    """The rule of Kafka that most owners follow, the default where none stands out."""
    default = Rule.RANGE_07 if is_07 else Rule.RANGE
    usual = [rule for rule, plan in plans.items() if rule.is_code and not plan.refused]
    return max(usual, key=lambda rule: following.agreement(plans[rule], claims), default=default)


def _doubt(demand: AssignmentInputs, rule: Rule | None) -> str | None:
    if rule is None and demand.open_topics and not demand.is_07:
        return "the owners do not follow range, and round robin is not computed while a topic is open"
    return None


def _idle(plan: PartitionAssignment, threads: Threads) -> tuple[str, ...]:
    """Threads that the plan gives nothing, in any topic."""
    busy = {thread for keys in plan.owners.values() for thread in keys.values()}
    open_ = {topic for topic, keys in plan.owners.items() if None in keys.values()}
    perhaps = {thread for topic in open_ for thread in threads[topic]}
    return tuple(sorted({thread for ids in threads.values() for thread in ids} - busy - perhaps))


def _differences(plans: Plans, matching: tuple[Rule, ...]) -> Iterator[str]:
    """Why members may compute different plans, where the group may follow round robin at all."""
    if Rule.ROUND_ROBIN_HYPHEN not in plans or Rule.RANGE in matching:
        return
    alike, brackets, hyphen = (
        plans[rule] for rule in (Rule.ROUND_ROBIN_ALIKE, Rule.ROUND_ROBIN_BRACKETS, Rule.ROUND_ROBIN_HYPHEN)
    )
    total = sum(map(len, brackets.owners.values()))
    differing = sum(
        thread != hyphen.owner(topic, key)
        for topic, keys in brackets.owners.items()
        for key, thread in keys.items()
    )
    if differing:
        yield (
            f"round robin of 0.8.2 to 0.11 and of 1.0 and 1.1 differ in {differing} of {total} partitions: "
            "a group with members of both does not agree"
        )
    if alike.refused:
        yield f"{alike.refused}: such members fail to rebalance where those of 0.10.2 and later go on"
    if brackets.undetermined:
        yield brackets.undetermined


def _changed(group: Group, seen: int | None) -> int | None:
    """When a registration or an owner was last created, in epoch milliseconds by the server's clock."""
    times = [member.znode.ctime for member in group.members.values() if member.znode]
    times += [owner.znode.ctime for keys in group.owners.values() for owner in keys.values() if owner.znode]
    return max((*times, *([] if seen is None else [seen])), default=None)
