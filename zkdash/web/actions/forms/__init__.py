"""The forms of actions, one of each kind, in the order in which they are listed."""

from __future__ import annotations

from typing import Final

from zkdash.web.actions.forms import elections, groups, leftovers, reassign, topics
from zkdash.web.actions.forms.base import ActionForm

# Heading, and the forms below it.
LISTED: Final[tuple[tuple[str, tuple[type[ActionForm], ...]], ...]] = (
    ("Replicas and leaders", (reassign.Form, elections.Form)),
    ("Topics", (topics.CreateForm, topics.WidenForm, topics.ConfigForm, topics.DeleteForm)),
    ("Groups of ZooKeeper consumers", (groups.OffsetsForm, groups.DeleteForm)),
    (
        "Clearing up",
        (
            elections.ControllerForm,
            leftovers.ThrottlesForm,
            leftovers.ConfigsForm,
            leftovers.StuckForm,
            leftovers.RevertForm,
            leftovers.CleanUpForm,
        ),
    ),
)
BY_KIND: Final = {form.kind: form for _, listed in LISTED for form in listed}
