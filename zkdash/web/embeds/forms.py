"""The form that makes an embed: what it shows, who may frame it, and for how long."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError

from zkdash.access import embeds
from zkdash.access.embeds import View
from zkdash.cluster.model.state import ClusterState
from zkdash.web.serving import embeddable

_THEMES: Final = (("", "as the viewer prefers"), ("light", "light"), ("dark", "dark"))
_LONGEST = 1000


class ViewForm(forms.Form):
    """What is shown, of one cluster as it is now."""

    template_name = "actions/forms/field.html"

    view = forms.ChoiceField(label="Shows", choices=embeddable.CHOICES)
    name = forms.CharField(
        label="Name",
        required=False,
        max_length=_LONGEST,
        help_text="Of the topic or the group, or the broker’s number.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "autocapitalize": "off"}),
    )
    query = forms.CharField(
        label="Filter and order",
        required=False,
        max_length=_LONGEST,
        help_text="What stands after the ? in the address of that page, if anything.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    theme = forms.ChoiceField(label="Theme", choices=_THEMES, required=False)

    def __init__(self, cluster: str, state: ClusterState, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._cluster, self._state = cluster, state

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if "view" in given and "name" in given and "query" in given:
            try:
                given["shows"] = embeddable.view(
                    self._cluster, given["view"], given["name"], given["query"], self._state
                )
            except embeddable.ViewError as error:
                self.add_error(error.about, str(error))
        return given

    @property
    def shows(self) -> View:
        """The view that was chosen, once the form is valid."""
        view: View = self.cleaned_data["shows"]
        return view


class EmbedForm(ViewForm):
    """All that an embed is."""

    parents = forms.CharField(
        label="Pages that may frame it",
        required=False,
        max_length=4000,
        help_text="Their origins, one per line, like https://wiki.example.org. Without any, only the badge "
        "of a check or a number can be used elsewhere.",
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "autocapitalize": "off"}),
    )
    days = forms.IntegerField(
        label="Ends after days", min_value=1, max_value=embeds.MOST_DAYS, initial=30, required=True
    )

    def clean_parents(self) -> list[str]:
        """The origins, each once, in the order given."""
        try:
            parents = list(
                dict.fromkeys(embeds.origin(parent) for parent in self.cleaned_data["parents"].split())
            )
        except embeds.OriginError as error:
            raise ValidationError(str(error)) from error
        if len(parents) > embeds.MOST_PARENTS:
            raise ValidationError(
                f"{len(parents)} origins are too many: an embed has at most {embeds.MOST_PARENTS}."
            )
        return parents

    @property
    def valid_for(self) -> timedelta:
        return timedelta(days=self.cleaned_data["days"])
