"""Fields for what is typed in a shape of its own: replicas, options, rates and moments."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError

from zkdash.kafka import paths
from zkdash.kafka.configs import topic_options
from zkdash.kafka.documents.document import INT_MAX, LONG_MAX, quote
from zkdash.kafka.values import Move
from zkdash.web.actions.forms.fields import LinesField, lines, partition, refuse

_UNITS: Final = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}
_RATE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)\s*(?:([kmg]i?)?b?(?:ytes)?(?:/s|ps)?)", re.IGNORECASE)
_MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2})?)(?:Z| ?UTC)?")


class ListsField(LinesField):
    """Replicas by partition, "0: 1, 2, 3", one per line: a dict of tuples."""

    def clean(self, value: Any) -> dict[int, tuple[int, ...]]:
        assignment: dict[int, tuple[int, ...]] = {}
        wrong = []
        for line in lines(str(super().clean(value))):
            number, _, listed = line.partition(":")
            replicas = _replicas(listed)
            if not paths.is_id(number.strip()) or replicas is None:
                wrong.append(f"{quote(line)} is not a list of replicas: write 0: 1, 2, 3.")
            elif int(number) in assignment:
                wrong.append(f"Partition {int(number)} is named twice.")
            else:
                assignment[int(number)] = replicas
        refuse(wrong)
        return assignment


class MovesField(LinesField):
    """Replicas by topic and partition, "orders-0: 1, 2, 3", one per line: a tuple of moves."""

    def clean(self, value: Any) -> tuple[Move, ...]:
        moves: dict[tuple[str, int], Move] = {}
        wrong = []
        for line in lines(str(super().clean(value))):
            named, _, listed = line.rpartition(":")
            pair, replicas = partition(named.strip()), _replicas(listed)
            if pair is None or replicas is None:
                wrong.append(f"{quote(line)} is no move: write <topic>-<number>: 1, 2, 3.")
            elif pair in moves:
                wrong.append(f"{pair[0]}-{pair[1]} is named twice.")
            else:
                moves[pair] = Move(*pair, replicas)
        refuse(wrong)
        return tuple(moves.values())


class ConfigField(LinesField):
    """Options of a topic, "retention.ms=1000", one per line: a dict of valid values."""

    def clean(self, value: Any) -> dict[str, str]:
        settings: dict[str, str] = {}
        wrong = []
        for line in lines(str(super().clean(value))):
            name, equals, given = (piece.strip() for piece in line.partition("="))
            if not equals:
                wrong.append(f"{quote(line)} is not an option: write name=value.")
            elif name in settings:
                wrong.append(f"{quote(name)} is set twice.")
            elif fault := topic_options.fault(name, given):
                wrong.append(fault)
            else:
                settings[name] = given
        refuse(wrong)
        return settings


class RateField(forms.CharField):
    """Bytes a second: "50 MB/s", "50000000", "10 MiB/s"."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, max_length=40, **options)

    def clean(self, value: Any) -> int | None:
        text = str(super().clean(value)).strip()
        if not text:
            return None
        rate_match = _RATE.fullmatch(text)
        rate = int(float(rate_match[1]) * _UNITS[(rate_match[2] or "").lower()]) if rate_match else 0
        if not 1 <= rate <= LONG_MAX:
            raise ValidationError(
                f"{quote(text)} is not a rate: write bytes a second as 50 MB/s or 50000000."
            )
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
        moment_match = _MOMENT.fullmatch(text)
        try:
            moment = (
                datetime.datetime.fromisoformat(f"{moment_match[1]}T{moment_match[2]}")
                if moment_match
                else None
            )
        except ValueError:
            moment = None
        if moment is None:
            raise ValidationError(f"{quote(text)} is not a moment: write 2026-11-21 18:00, in UTC.")
        return moment.replace(tzinfo=datetime.UTC)


def _replicas(text: str) -> tuple[int, ...] | None:
    pieces = [piece for piece in re.split(r"[,\s]+", text.strip().strip("[]")) if piece]
    if not pieces or not all(map(paths.is_id, pieces)):
        return None
    return tuple(number for number in map(int, pieces) if number <= INT_MAX)


def listed(replicas: Iterable[int]) -> str:
    """Replicas as these fields read them."""
    return ", ".join(map(str, replicas))
