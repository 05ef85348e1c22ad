"""Fields that know the cluster: what somebody types becomes names, partitions, brokers and replicas that are.

Each takes text, so that ten thousand topics are no ten thousand options, and answers what it does not
understand with one sentence.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError

from zkdash.cluster.state import ClusterState
from zkdash.kafka import paths, topic_options
from zkdash.kafka.layouts.document import INT_MAX, LONG_MAX, few, quote
from zkdash.kafka.values import Assignment, Move
from zkdash.web.forms import patterns

MOST_CHARACTERS: Final = 1_000_000
_MOST_BROKERS: Final = 10_000
_UNITS: Final = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}
_RATE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)\s*(?:([kmg]i?)?b?(?:ytes)?(?:/s|ps)?)", re.IGNORECASE)
_MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2})?)(?:Z| ?UTC)?")


class OfCluster:
    """What a field of a form is told before it reads anything: the cluster as it is."""

    state: ClusterState = ClusterState()


class LinesField(OfCluster, forms.CharField):
    """Text of many lines."""

    def __init__(self, *, rows: int = 3, **options: Any) -> None:
        options.setdefault("required", False)
        widget = forms.Textarea(attrs={"rows": rows, "spellcheck": "false", "autocapitalize": "off"})
        super().__init__(widget=widget, max_length=MOST_CHARACTERS, **options)


class NameField(OfCluster, forms.CharField):
    """One name, kept as it is typed but for the space around it."""

    def __init__(self, **options: Any) -> None:
        widget = forms.TextInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "autocapitalize": "off"}
        )
        super().__init__(widget=widget, max_length=1000, **options)


class TopicField(NameField):
    """A topic that there is."""

    def clean(self, value: Any) -> str:
        name = str(super().clean(value))
        if name and name not in self.state.topics:
            raise ValidationError(f"There is no topic {quote(name)}.")
        return name


class GroupField(NameField):
    """A group that keeps something in ZooKeeper."""

    def clean(self, value: Any) -> str:
        name = str(super().clean(value))
        if name and name not in self.state.groups:
            raise ValidationError(
                f"There is no group {quote(name)} in ZooKeeper; groups of newer consumers are in Kafka."
            )
        return name


class TopicsField(LinesField):
    """Topics by names and patterns: a tuple of names, in order."""

    def clean(self, value: Any) -> tuple[str, ...]:
        found = patterns.chosen(str(super().clean(value)), self.state.topics)
        if found.misses:
            raise ValidationError(patterns.sentence(found.misses, "topic"))
        return found.names


class PartitionsField(LinesField):
    """Partitions as "orders-0", one a line: a tuple of (topic, id)."""

    def clean(self, value: Any) -> tuple[tuple[str, int], ...]:
        found, wrong = [], []
        for line in _lines(str(super().clean(value))):
            pair = _partition(line)
            if pair is None:
                wrong.append(f"{quote(line)} is no partition: write <topic>-<number>.")
            elif fault := _absent(self.state, *pair):
                wrong.append(fault)
            else:
                found.append(pair)
        _refuse(wrong)
        return tuple(dict.fromkeys(found))


class BrokersField(OfCluster, forms.CharField):
    """Ids of brokers: "3", "7 to 9", "1, 2, 5-7"."""

    joins = True

    def __init__(self, **options: Any) -> None:
        options.setdefault("required", False)
        super().__init__(max_length=2000, **options)

    def clean(self, value: Any) -> tuple[int, ...]:
        found: list[int] = []
        for piece in re.split(r"[,;\s]+", re.sub(r"\s*(?:\bto\b|–|-)\s*", "-", str(super().clean(value)))):
            low, dash, high = piece.partition("-")
            if not piece:
                continue
            if not (paths.is_id(low) and (paths.is_id(high) or not dash)):
                raise ValidationError(f"{quote(piece)} is no broker: write ids as 3, or 7 to 9.")
            last = int(high) if dash else int(low)
            if not 0 <= last - int(low) < _MOST_BROKERS:
                raise ValidationError(f"{quote(piece)} is no range of brokers: the smaller id comes first.")
            found += range(int(low), last + 1)
        if len(found) > _MOST_BROKERS:
            raise ValidationError(f"These are {len(found)} brokers; {_MOST_BROKERS} are the most.")
        return tuple(dict.fromkeys(found))


class ListsField(LinesField):
    """Replicas by partition, "0: 1, 2, 3", one a line: a dict of tuples."""

    def clean(self, value: Any) -> dict[int, tuple[int, ...]]:
        found: dict[int, tuple[int, ...]] = {}
        wrong = []
        for line in _lines(str(super().clean(value))):
            number, _, listed = line.partition(":")
            replicas = _replicas(listed)
            if not paths.is_id(number.strip()) or replicas is None:
                wrong.append(f"{quote(line)} is no list of replicas: write 0: 1, 2, 3.")
            elif int(number) in found:
                wrong.append(f"Partition {int(number)} is named twice.")
            else:
                found[int(number)] = replicas
        _refuse(wrong)
        return found


class MovesField(LinesField):
    """Replicas by topic and partition, "orders-0: 1, 2, 3", one a line: a tuple of moves."""

    def clean(self, value: Any) -> tuple[Move, ...]:
        found: dict[tuple[str, int], Move] = {}
        wrong = []
        for line in _lines(str(super().clean(value))):
            named, _, listed = line.rpartition(":")
            pair, replicas = _partition(named.strip()), _replicas(listed)
            if pair is None or replicas is None:
                wrong.append(f"{quote(line)} is no move: write <topic>-<number>: 1, 2, 3.")
            elif pair in found:
                wrong.append(f"{pair[0]}-{pair[1]} is named twice.")
            else:
                found[pair] = Move(*pair, replicas)
        _refuse(wrong)
        return tuple(found.values())


class ConfigField(LinesField):
    """Options of a topic, "retention.ms=1000", one a line: a dict of valid values."""

    def clean(self, value: Any) -> dict[str, str]:
        found: dict[str, str] = {}
        wrong = []
        for line in _lines(str(super().clean(value))):
            name, equals, given = (piece.strip() for piece in line.partition("="))
            if not equals:
                wrong.append(f"{quote(line)} is no option: write name=value.")
            elif name in found:
                wrong.append(f"{quote(name)} is set twice.")
            elif fault := topic_options.fault(name, given):
                wrong.append(fault)
            else:
                found[name] = given
        _refuse(wrong)
        return found


class RateField(forms.CharField):
    """Bytes a second: "50 MB/s", "50000000", "10 MiB/s"."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, max_length=40, **options)

    def clean(self, value: Any) -> int | None:
        text = str(super().clean(value)).strip()
        if not text:
            return None
        found = _RATE.fullmatch(text)
        rate = int(float(found[1]) * _UNITS[(found[2] or "").lower()]) if found else 0
        if not 1 <= rate <= LONG_MAX:
            raise ValidationError(f"{quote(text)} is no rate: write bytes a second as 50 MB/s or 50000000.")
        return rate


class MomentField(forms.CharField):
    """A moment in UTC, "2026-11-21 18:00"."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("required", False)
        widget = forms.DateTimeInput(attrs={"type": "datetime-local", "step": "1"})
        super().__init__(max_length=40, widget=widget, **options)

    def clean(self, value: Any) -> datetime.datetime | None:
        text = str(super().clean(value)).strip()
        if not text:
            return None
        found = _MOMENT.fullmatch(text)
        try:
            moment = datetime.datetime.fromisoformat(f"{found[1]}T{found[2]}") if found else None
        except ValueError:
            moment = None
        if moment is None:
            raise ValidationError(f"{quote(text)} is no moment: write 2026-11-21 18:00, in UTC.")
        return moment.replace(tzinfo=datetime.UTC)


def _lines(text: str) -> Iterator[str]:
    return (line.strip() for line in text.splitlines() if line.strip())


def _refuse(wrong: Collection[str]) -> None:
    if wrong:
        raise ValidationError(" ".join(few(list(wrong))))


def _partition(text: str) -> tuple[str, int] | None:
    topic, _, number = text.rpartition("-")
    return (topic, int(number)) if topic and paths.is_id(number) else None


def _absent(state: ClusterState, topic: str, partition: int) -> str:
    """Why there is no such partition, as a sentence; empty where there is."""
    if topic not in state.topics:
        return f"There is no topic {quote(topic)}."
    found = state.topics[topic].assignment
    if isinstance(found, Assignment) and partition not in found.partitions:
        return f"{quote(topic)} has no partition {partition}."
    return ""


def _replicas(text: str) -> tuple[int, ...] | None:
    pieces = [piece for piece in re.split(r"[,\s]+", text.strip().strip("[]")) if piece]
    if not pieces or not all(map(paths.is_id, pieces)):
        return None
    return tuple(number for number in map(int, pieces) if number <= INT_MAX)


def listed(replicas: Iterable[int]) -> str:
    """Replicas as these fields read them."""
    return ", ".join(map(str, replicas))
