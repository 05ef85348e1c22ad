"""The forms of actions, one of each kind: found in the modules beside this, in the order in which they are
listed."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from typing import Final

from zkdash.web.actions.forms.base import ActionForm, Follows, Heading


def _declared() -> Iterator[type[ActionForm]]:
    """The classes that name a kind."""
    for module in sorted(module_info.name for module_info in pkgutil.iter_modules(__path__)):
        for value in vars(importlib.import_module(f"{__name__}.{module}")).values():
            if isinstance(value, type) and issubclass(value, ActionForm) and "kind" in vars(value):
                yield value


_FORMS: Final = sorted(_declared(), key=lambda form: form.rank)
# Heading, and the forms below it.
LISTED: Final[tuple[tuple[str, tuple[type[ActionForm], ...]], ...]] = tuple(
    (heading.value, tuple(form for form in _FORMS if form.heading is heading)) for heading in Heading
)
BY_KIND: Final[Mapping[str, type[ActionForm]]] = {form.kind: form for _, listed in LISTED for form in listed}
# What Kafka does about a write, whichever plan it is in.
FOLLOWS: Final[Follows] = {written: sentence for form in _FORMS for written, sentence in form.follows.items()}
