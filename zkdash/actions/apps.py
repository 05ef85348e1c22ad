"""The durable queue of actions, as a Django app."""

from django.apps import AppConfig


class ActionsConfig(AppConfig):
    name = "zkdash.actions"
    label = "actions"
    verbose_name = "Actions"
