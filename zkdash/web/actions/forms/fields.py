"""Fields that know the cluster: what somebody types becomes topics, groups, partitions and brokers.

Each takes text, so that ten thousand topics are no ten thousand options, and answers what it does not
understand with one sentence.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

from django import forms
from django.core.exceptions import ValidationError

from zkdash.cluster.model.state import ClusterState
from zkdash.kafka import paths
from zkdash.kafka.documents.document import few, quote
from zkdash.kafka.values import Assignment
from zkdash.web.actions.forms import patterns

MOST_CHARACTERS: Final = 1_000_000
_MOST_BROKERS: Final = 10_000


class OfCluster:
    """What a field of a form is told before it reads anything: the cluster as it is.

    `names` says which names the browser suggests for it: "topics", "groups" or "brokers", "" for none.
    """

    state: ClusterState = ClusterState()
    names: ClassVar[str] = ""


class LinesField(OfCluster, forms.CharField):
    """Text of many lines."""

    def __init__(self, *, rows: int = 3, longest: int = MOST_CHARACTERS, **options: Any) -> None:
        options.setdefault("required", False)
        widget = forms.Textarea(attrs={"rows": rows, "spellcheck": "false", "autocapitalize": "off"})
        super().__init__(widget=widget, max_length=longest, **options)


class NameField(OfCluster, forms.CharField):
    """One name, kept as it is typed but for the space around it."""

    def __init__(self, **options: Any) -> None:
        widget = forms.TextInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "autocapitalize": "off"}
        )
        super().__init__(widget=widget, max_length=1000, **options)


class TopicField(NameField):
    """A topic that there is."""

    names = "topics"

    def clean(self, value: Any) -> str:
        name = str(super().clean(value))
        if name and name not in self.state.topics:
            raise ValidationError(f"There is no topic {quote(name)}.")
        return name


class NamesField(LinesField):
    """Names and patterns, one per line: a tuple of names that there are, in order; at most `most` of them."""

    noun = ""

    def __init__(self, *, most: int | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.most = most

    def known(self) -> Mapping[str, object]:
        """All names that there are."""
        raise NotImplementedError

    def accepts(self, _word: str) -> bool:
        """Whether a word is a name although there is no such name yet."""
        return False

    def clean(self, value: Any) -> tuple[str, ...]:
        chosen = patterns.chosen(str(super().clean(value)), self.known())
        if chosen.fault:
            raise ValidationError(chosen.fault)
        fresh = [word for word in chosen.misses if self.accepts(word)]
        if len(fresh) < len(chosen.misses):
            raise ValidationError(self.missed([word for word in chosen.misses if not self.accepts(word)]))
        names = tuple(sorted((*chosen.names, *fresh)))
        if self.most is not None and len(names) > self.most:
            raise ValidationError(f"These are {len(names)} {self.noun}s; {self.most} at a time are the most.")
        return names

    def missed(self, words: Sequence[str]) -> str:
        """What matches nothing, in words."""
        return patterns.sentence(words, self.noun)


class TopicsField(NamesField):
    """Topics that there are."""

    noun = "topic"
    names = "topics"

    def known(self) -> Mapping[str, object]:
        return self.state.topics


class GroupsField(NamesField):
    """Groups that keep something in ZooKeeper."""

    noun = "group"
    names = "groups"

    def known(self) -> Mapping[str, object]:
        return self.state.groups

    def missed(self, words: Sequence[str]) -> str:
        return (
            f"{super().missed(words)} Only groups that are in ZooKeeper are meant; newer ones are in Kafka."
        )


class NewGroupsField(GroupsField):
    """Groups that there are, by names and patterns, and names of groups that are yet to be."""

    def accepts(self, word: str) -> bool:
        return not patterns.is_pattern(word)


class PartitionsField(LinesField):
    """Partitions as "orders-0", one per line: a tuple of (topic, id)."""

    def clean(self, value: Any) -> tuple[tuple[str, int], ...]:
        moves, wrong = [], []
        for line in lines(str(super().clean(value))):
            pair = partition(line)
            if pair is None:
                wrong.append(f"{quote(line)} is not a partition: write <topic>-<number>.")
            elif fault := _absent(self.state, *pair):
                wrong.append(fault)
            else:
                moves.append(pair)
        refuse(wrong)
        return tuple(dict.fromkeys(moves))


class BrokersField(OfCluster, forms.CharField):
    """Ids of brokers: "3", "7 to 9", "1, 2, 5-7"."""

    joins = True
    names = "brokers"

    def __init__(self, **options: Any) -> None:
        options.setdefault("required", False)
        super().__init__(max_length=2000, **options)

    def clean(self, value: Any) -> tuple[int, ...]:
        ids: list[int] = []
        for piece in re.split(r"[,;\s]+", re.sub(r"\s*(?:\bto\b|–|-)\s*", "-", str(super().clean(value)))):
            low, dash, high = piece.partition("-")
            if not piece:
                continue
            if not (paths.is_id(low) and (paths.is_id(high) or not dash)):
                raise ValidationError(f"{quote(piece)} is not a broker: write ids as 3, or 7 to 9.")
            last = int(high) if dash else int(low)
            if not 0 <= last - int(low) < _MOST_BROKERS:
                raise ValidationError(
                    f"{quote(piece)} is not a range of brokers: the smaller id comes first."
                )
            ids += range(int(low), last + 1)
        if len(ids) > _MOST_BROKERS:
            raise ValidationError(f"These are {len(ids)} brokers; {_MOST_BROKERS} are the most.")
        return tuple(dict.fromkeys(ids))


def lines(text: str) -> Iterator[str]:
    """The lines that are not blank."""
    return (line.strip() for line in text.splitlines() if line.strip())


def refuse(wrong: Collection[str]) -> None:
    """Raise ValidationError with the first of these sentences, if there are any."""
    if wrong:
        raise ValidationError(" ".join(few(list(wrong))))


def partition(text: str) -> tuple[str, int] | None:
    """The topic and the id of "orders-0"; None where it is no partition."""
    topic, _, number = text.rpartition("-")
    return (topic, int(number)) if topic and paths.is_id(number) else None


def _absent(state: ClusterState, topic: str, partition: int) -> str:
    """Why there is no such partition, as a sentence; empty where there is."""
    if topic not in state.topics:
        return f"There is no topic {quote(topic)}."
    assignment = state.topics[topic].assignment
    if isinstance(assignment, Assignment) and partition not in assignment.partitions:
        return f"{quote(topic)} has no partition {partition}."
    return ""
