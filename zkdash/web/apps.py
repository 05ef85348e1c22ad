"""The pages, as a Django app."""

from importlib import import_module

from django.apps import AppConfig


class WebConfig(AppConfig):
    name = "zkdash.web"

    def ready(self) -> None:
        """Have the audit told who signs in; nothing is started."""
        import_module("zkdash.web.accounts.sign_events")
