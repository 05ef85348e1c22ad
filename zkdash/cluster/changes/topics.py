"""What changed about topics and their partitions."""

from __future__ import annotations

from collections.abc import Iterator

from zkdash.cluster.changes.change import Said, Transition, listed, number
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.topics import Partition, Topic
from zkdash.kafka.values import Assignment, PartitionState, TopicConfig
from zkdash.znode import Znode

_BEGAN, _ENDED = " began to move", " ended moving"


def topic(before: ClusterState, after: ClusterState, name: str) -> Iterator[Said]:
    """/brokers/topics/T: the topic itself and its assignment."""
    was, now = before.topics.get(name), after.topics.get(name)
    if was is None and now is not None:
        yield Said(f"topic {name} was created", None, _size(now))
    elif now is None and was is not None:
        yield Said(f"topic {name} was deleted", _size(was), None)
    elif was is not None and now is not None:
        if is_same(was, now):
            yield from _assignment(was, now)
        else:
            yield Said(f"topic {name} was deleted and created again", _size(was), _size(now))


def is_same(former: Topic | None, other: Topic | None) -> bool:
    """Whether two moments show one topic, not an earlier and a later one of the same name."""
    if former is None or other is None:
        return False
    if isinstance(former.znode, Znode) and isinstance(other.znode, Znode):
        return former.znode.czxid == other.znode.czxid
    return True


def state(was: Topic, now: Topic, partition: int) -> Iterator[Said]:
    """.../partitions/P/state. A partition that is new says nothing: its topic's creation or growth does."""
    former, other = _find(was, partition), _find(now, partition)
    if former is None or other is None:
        return
    old, new = former.state, other.state
    if not isinstance(old, PartitionState) or not isinstance(new, PartitionState):
        return
    name = f"partition {now.name}-{partition}"
    if old.leader != new.leader:
        yield _led(name, old.leader, new.leader)
    lost = [broker for broker in old.isr if broker not in new.isr]
    came = [broker for broker in new.isr if broker not in old.isr]
    words = []
    if lost:
        words.append(f"lost {_replicas(lost)} from ISR")
    if came:
        words.append(f"has {_replicas(came)} back in ISR")
    if words:
        yield Said(f"{name} {' and '.join(words)}", listed(old.isr), listed(new.isr))


def is_of_isr(what: str) -> bool:
    """Whether a sentence about a partition's state is about its ISR; else it is about its leader."""
    return what.endswith(" ISR")


def transition(was: Topic, now: Topic, partition: int) -> Transition | None:
    """The same without words; None where `state` has none."""
    earlier, other = _find(was, partition), _find(now, partition)
    old, new = earlier and earlier.state, other and other.state
    if not isinstance(old, PartitionState) or not isinstance(new, PartitionState):
        return None
    lost = tuple(broker for broker in old.isr if broker not in new.isr)
    back = tuple(broker for broker in new.isr if broker not in old.isr)
    if old.leader == new.leader and not lost and not back:
        return None
    return Transition(_leading(old.leader), _leading(new.leader), lost, back)


def moving(what: str) -> tuple[int, bool] | None:
    """Of a sentence of `_assignment`: how many partitions began to move (True) or ended moving; else None."""
    number, _, rest = what.partition(" ")
    for end, begins in ((_BEGAN, True), (_ENDED, False)):
        if number.isdecimal() and rest.startswith("partition") and rest.endswith(end):
            return int(number), begins
    return None


def count(was: Topic | None, now: Topic | None, name: str, broker: int) -> Iterator[Said]:
    """/brokers/topics/T/B of 0.7."""
    former, other = _held(was, broker), _held(now, broker)
    if former != other:
        yield Said(f"broker {broker} holds another number of partitions of topic {name}", former, other)


def config(before: ClusterState, after: ClusterState, name: str) -> Iterator[Said]:
    """/config/topics/T of a topic that was there and still is."""
    was, now = before.topics.get(name), after.topics.get(name)
    if not is_same(was, now):
        return
    former, other = _config(was), _config(now)
    keys = sorted(key for key in {*former, *other} if former.get(key) != other.get(key))
    if keys:
        yield Said(f"the config of topic {name} changed", _settings(former, keys), _settings(other, keys))


def _assignment(was: Topic, now: Topic) -> Iterator[Said]:
    old, new = was.assignment, now.assignment
    if not isinstance(old, Assignment) or not isinstance(new, Assignment):
        return
    if len(old.partitions) != len(new.partitions):
        sizes = len(old.partitions), len(new.partitions)
        more = "more" if sizes[1] > sizes[0] else "fewer"
        yield Said(f"topic {now.name} has {more} partitions", str(sizes[0]), str(sizes[1]))
    begun = _moving(new) - _moving(old)
    ended = _moving(old) - _moving(new)
    if begun:
        which = number(len(begun), "partition", "partitions")
        yield Said(f"{which} of topic {now.name}{_BEGAN}", *_lists(old, new, begun))
    if ended:
        which = number(len(ended), "partition", "partitions")
        yield Said(f"{which} of topic {now.name}{_ENDED}", *_lists(old, new, ended))
    moved = {
        partition
        for partition, replicas in new.partitions.items()
        if old.partitions.get(partition, replicas) != replicas
    }
    if rest := moved - begun - ended:
        yield Said(f"topic {now.name} has other replicas", *_lists(old, new, rest))


def _led(name: str, was: int, now: int) -> Said:
    before = str(was) if was >= 0 else None
    if now < 0:
        return Said(f"{name} has no leader", before, None)
    what = f"leader moved from broker {was} to {now}" if was >= 0 else f"is led by broker {now} again"
    return Said(f"{name} {what}", before, str(now))


def _leading(leader: int) -> int | None:
    return leader if leader >= 0 else None


def _replicas(brokers: list[int]) -> str:
    return f"{'replica' if len(brokers) == 1 else 'replicas'} {listed(brokers)}"


def _moving(assignment: Assignment) -> set[int]:
    return {*assignment.adding, *assignment.removing}


def _lists(old: Assignment, new: Assignment, partitions: set[int]) -> tuple[str, str]:
    """The replicas of the first few of these partitions, before and after."""
    some = sorted(partitions)[:5]
    return _some(old, some), _some(new, some)


def _some(assignment: Assignment, partitions: list[int]) -> str:
    return "; ".join(
        f"{partition}: {listed(assignment.partitions.get(partition, ()))}" for partition in partitions
    )


def _find(topic: Topic, number: int) -> Partition | None:
    partitions = topic.partitions
    if number < len(partitions) and partitions[number].id == number:
        return partitions[number]
    return next((partition for partition in partitions if partition.id == number), None)


def _size(topic: Topic) -> str | None:
    if not isinstance(topic.assignment, Assignment):
        return None
    return number(len(topic.assignment.partitions), "partition", "partitions")


def _held(topic: Topic | None, broker: int) -> str | None:
    counts = () if topic is None else topic.counts
    return next((str(c.count) for c in counts if c.broker == broker and isinstance(c.count, int)), None)


def _config(topic: Topic | None) -> dict[str, str]:
    return dict(topic.config.config) if topic and isinstance(topic.config, TopicConfig) else {}


def _settings(config: dict[str, str], keys: list[str]) -> str | None:
    return ", ".join(f"{key}={config[key]}" for key in keys if key in config) or None
