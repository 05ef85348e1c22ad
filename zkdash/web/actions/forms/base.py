"""What all forms share: filled by the address, checked against the cluster, made into an intent."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, ClassVar, Final, cast

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict

from zkdash.cluster.plans import registry
from zkdash.cluster.plans.intents import Intent
from zkdash.kafka.znode_kinds import Kind
from zkdash.live.snapshot import Snapshot
from zkdash.web.actions.forms import patterns
from zkdash.web.actions.forms.fields import LinesField, NamesField, OfCluster
from zkdash.web.actions.forms.typed import MomentField
from zkdash.znode import Operation

Given = Mapping[str, Sequence[str]]
# What Kafka does about a write, by the kind of its znode and what is done to it: a sentence.
Follows = Mapping[tuple[Kind, Operation], str]

REPEATS: Final = (
    ("", "once"),
    ("3600", "every hour"),
    ("86400", "every day"),
    ("604800", "every week"),
)
# How many things one form acts on, each by an action of its own.
MOST_AT_ONCE: Final = 50
# How many names of a kind a form suggests: those of the worst status first.
MOST_SUGGESTED: Final = 200
# Fields that every form has, below its own.
ABOUT: Final = ("reason", "not_before", "repeat")
_LONGEST = 100
# What is given may be the names of a thousand rows.
_MOST_FILLED = 256 * 1024
_LONGEST_FAULT = 1000
# What was refused and is longer is not shown again: whoever pasted it has it.
MOST_ECHOED: Final = 64 * 1024


class Heading(enum.Enum):
    """The headings of the list of actions, in their order."""

    REPLICAS = "Replicas and leaders"
    TOPICS = "Topics"
    GROUPS = "Groups of ZooKeeper consumers"
    CLEARING = "Clearing up"


class ActionForm(forms.Form):
    """The form of one kind, which is all that is declared of it for the browser.

    `kind` is its tag; `cluster.plans.registry` has what else is declared of it. The form is listed below its
    `heading`, by `rank`. `lead` says what the action does, `names` which parameters of an address fill which
    field beside those called like it, `ways` with which choices of "way" a field is of use, `follows` what
    Kafka does about writes that plans of this kind are the first to make. `template` extends
    actions/forms/form.html where more is shown than fields and the facts that are `told`. Where the form is
    valid, `intents()` is what was asked for, each to be an action of its own; `remarks` are sentences about
    how it was read, `notes` those about the address.
    """

    kind: ClassVar[str]
    heading: ClassVar[Heading]
    rank: ClassVar[int]
    lead: ClassVar[str]
    names: ClassVar[Mapping[str, str]] = {}
    follows: ClassVar[Follows] = {}
    uploads: ClassVar[bool] = False
    ways: ClassVar[Mapping[str, str]] = {}
    template: ClassVar[str] = "actions/forms/form.html"

    reason = forms.CharField(
        required=False,
        max_length=2000,
        label="Reason",
        help_text="Kept with the action and in the audit: a ticket, a sentence.",
    )
    not_before = MomentField(label="Not before", help_text="UTC. Empty: as soon as it is submitted.")
    repeat = forms.ChoiceField(required=False, choices=REPEATS, label="How often")

    def __init__(
        self,
        snapshot: Snapshot,
        given: Given,
        data: Any = None,
        files: Any = None,
        *,
        ask: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(data, files, label_suffix="")
        self.snapshot = snapshot
        self.state = snapshot.state
        self.ask = ask
        self.remarks: list[str] = []
        self.notes: list[str] = []
        if not registry.BY_TAG[self.kind].repeats:
            del self.fields["repeat"]
        for field in self.fields.values():
            if isinstance(field, OfCluster):
                field.state = self.state
                if field.names:
                    field.widget.attrs["list" if _is_line(field) else "data-list"] = f"known-{field.names}"
        self.prepare(given)
        self._fill(given)
        self._count(given)

    def prepare(self, given: Given) -> None:
        """Choices that depend on the cluster, or on what is given."""

    def intents(self) -> tuple[Intent, ...]:
        """What was asked for, of a valid form."""
        raise NotImplementedError

    def facts(self) -> Mapping[str, Any]:
        """What the form's template shows beside its fields; `told` is (label, value) of each fact."""
        return {}

    @classmethod
    def title(cls) -> str:
        return registry.title(cls.kind)

    @property
    def own(self) -> list[tuple[forms.BoundField, str]]:
        """The fields of this kind, with the ways that they are of use for; "" for all, and for a field at
        fault, which is to be seen whatever is chosen."""
        return [
            (self[name], "" if self.errors.get(name) else self.ways.get(name, ""))
            for name in self.fields
            if name not in ABOUT
        ]

    @property
    def about(self) -> list[forms.BoundField]:
        """The fields that every form has."""
        return [self[name] for name in self.fields if name in ABOUT]

    @property
    def suggestions(self) -> list[tuple[str, list[str]]]:
        """(id, names) of the lists that fields suggest from: the first names of each kind."""
        kinds = {field.names for field in self.fields.values() if isinstance(field, OfCluster)}
        names_of: dict[str, Iterable[str]] = {
            "topics": (name for _, name in self.state.ranking),
            "groups": (name for _, name in self.state.group_ranking),
            "brokers": map(str, sorted(self.state.brokers)),
        }
        return [
            (f"known-{kind}", list(islice(names_of[kind], MOST_SUGGESTED)))
            for kind in sorted(kinds & names_of.keys())
        ]

    def field_of(self, parameter: str) -> str:
        """The field that a parameter fills, "" where it fills none."""
        name = self.names.get(parameter, parameter)
        return name if name in self.fields else ""

    def typed(self, name: str, given: Given) -> str:
        """What a field holds now, as text: typed, else filled by the address."""
        if self.is_bound:
            return str(self.data.get(self.add_prefix(name), ""))
        return "\n".join(v for p, values in given.items() if self.field_of(p) == name for v in values)

    def forget_long(self) -> None:
        """Empty the fields of a refused form that are too long to be sent back: cut, they would say else."""
        if not self.is_bound:
            return
        kept = cast("QueryDict", self.data).copy()
        for name in self.fields:
            key = self.add_prefix(name)
            size = sum(len(str(value)) for value in kept.getlist(key))
            if size > MOST_ECHOED:
                kept.pop(key)
                self.notes.append(
                    f"{self._label(name)}: {size:,} characters were given, too many to be shown again. "
                    "The field is empty now: paste them again."
                )
        self.data = kept

    def _count(self, given: Given) -> None:
        """How many the patterns match, beside them."""
        for name, field in self.fields.items():
            if isinstance(field, NamesField) and (text := self.typed(name, given)).strip():
                choices = field.known()
                chosen = patterns.chosen(text, choices)
                if not chosen.fault:
                    field.help_text += f" {len(chosen.names)} of {len(choices)} {field.noun}s match now."

    def _fill(self, given: Given) -> None:
        """Every parameter into its field; what a field does not take is named, and shown all the same."""
        filled: dict[str, list[str]] = {}
        for parameter, values in given.items():
            name = self.field_of(parameter)
            if name:
                filled.setdefault(name, []).extend(values)
            else:
                self.notes.append(f"“{parameter[:_LONGEST]}” is not a parameter of this form.")
        for name, values in filled.items():
            self._fill_field(name, values)

    def _fill_field(self, name: str, values: Sequence[str]) -> None:
        field = self.fields[name]
        size = sum(map(len, values))
        if size > _MOST_FILLED:
            self.notes.append(
                f"{self._label(name)}: {size:,} characters were given, too many to be filled in."
            )
            return
        value: Any = _joined(field, values)
        if value is None:
            value = values[0]
            self.notes.append(f"{self._label(name)} takes one value: “{value[:_LONGEST]}” is taken.")
        try:
            field.clean(value)
        except ValidationError as fault:
            shown = value if isinstance(value, str) else ", ".join(value)
            fault_told = fault.messages[0][:_LONGEST_FAULT]
            self.notes.append(f"{self._label(name)}: “{shown[:_LONGEST]}” was given. {fault_told}")
            if isinstance(field, forms.ChoiceField):
                return
        self.initial[name] = value

    def _label(self, name: str) -> str:
        return str(self.fields[name].label or name)


def _is_line(field: forms.Field) -> bool:
    """Whether the browser can suggest into it by itself: it does so in no field of many lines."""
    return not isinstance(field, LinesField)


def _joined(field: forms.Field, values: Sequence[str]) -> Any:
    """The values of one parameter as the field takes them; None where it takes one only."""
    if isinstance(field, forms.MultipleChoiceField):
        return list(values)
    if isinstance(field, LinesField):
        return "\n".join(values)
    if getattr(field, "joins", False):
        return ", ".join(values)
    return values[0] if len(values) == 1 else None
