"""Leaders and ISRs (kafka.api.LeaderAndIsr), decided as the ZooKeeper-mode controller of 3.9 does. Pure.

Each function returns the new state, or None where nothing changes. A decision about leadership increments
`leader_epoch`; a follower that joins or leaves the ISR (AlterPartition) does not.
Sources: kafka.controller.Election, PartitionStateMachine, ReplicaStateMachine.doRemoveReplicasFromIsr,
kafka.cluster.Partition.maybeExpandIsr and maybeShrinkIsr.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from zkdash.kafka.values import PartitionState

NO_LEADER = -1


def initialize(replicas: Sequence[int], live: Collection[int]) -> PartitionState | None:
    """The state of a new partition: the first live replica leads, all live ones are in sync."""
    isr = tuple(b for b in replicas if b in live)
    if not isr:
        return None
    return PartitionState(leader=isr[0], leader_epoch=0, controller_epoch=0, isr=isr)


def leader_for_offline(
    state: PartitionState, replicas: Sequence[int], live: Collection[int]
) -> PartitionState | None:
    """A leader for a partition whose own is gone: the first assigned replica that lives and is in sync."""
    leader = _eligible(state, replicas, live)
    if leader is None:
        return None
    return _decided(state, leader=leader, isr=tuple(b for b in state.isr if b in live))


def leader_for_preferred_replica(
    state: PartitionState, replicas: Sequence[int], live: Collection[int]
) -> PartitionState | None:
    """The preferred replica takes over, where it lives, is in sync and does not lead already."""
    preferred = replicas[0]
    if state.leader == preferred or preferred not in live or preferred not in state.isr:
        return None
    return _decided(state, leader=preferred, isr=state.isr)


def leader_for_reassignment(
    state: PartitionState, target: Sequence[int], live: Collection[int]
) -> PartitionState | None:
    """At the end of a reassignment a replica of the target leads, if one can and none does."""
    if state.leader in target:
        return None
    leader = _eligible(state, target, live)
    return None if leader is None else _decided(state, leader=leader, isr=state.isr)


def remove_from_isr(state: PartitionState, gone: Collection[int]) -> PartitionState | None:
    """Dead or reassigned replicas leave the ISR; its last member stays in it, without leading."""
    if not set(gone) & set(state.isr):
        return None
    leader = NO_LEADER if state.leader in gone else state.leader
    isr = tuple(b for b in state.isr if b not in gone) or state.isr[-1:]
    if (leader, isr) == (state.leader, state.isr):
        return None
    return _decided(state, leader=leader, isr=isr)


def renew_leader_epoch(state: PartitionState) -> PartitionState:
    """The same leadership under a new epoch: how a reassignment tells the brokers."""
    return _decided(state, leader=state.leader, isr=state.isr)


def expand_isr(state: PartitionState, replica: int) -> PartitionState | None:
    """A follower caught up: its leader adds it to the ISR."""
    if replica in state.isr or state.leader == NO_LEADER:
        return None
    return msgspec.structs.replace(state, isr=(*state.isr, replica))


def shrink_isr(state: PartitionState, replica: int) -> PartitionState | None:
    """A follower fell behind: its leader takes it out of the ISR."""
    if replica not in state.isr or state.leader in {replica, NO_LEADER}:
        return None
    return msgspec.structs.replace(state, isr=tuple(b for b in state.isr if b != replica))


def _eligible(state: PartitionState, replicas: Sequence[int], live: Collection[int]) -> int | None:
    return next((b for b in replicas if b in live and b in state.isr), None)


def _decided(state: PartitionState, *, leader: int, isr: tuple[int, ...]) -> PartitionState:
    return msgspec.structs.replace(state, leader=leader, isr=isr, leader_epoch=state.leader_epoch + 1)
