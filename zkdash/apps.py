"""zkdash as a Django app, for its commands. It starts nothing."""

from django.apps import AppConfig


class ZkdashConfig(AppConfig):
    name = "zkdash"
