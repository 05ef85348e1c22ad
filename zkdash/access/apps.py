"""Who may do what, as a Django app."""

from django.apps import AppConfig


class AccessConfig(AppConfig):
    name = "zkdash.access"
    label = "access"
    verbose_name = "Access"
