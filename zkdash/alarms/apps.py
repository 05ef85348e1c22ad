"""Occurrences of findings and their acknowledgements, as a Django app."""

from django.apps import AppConfig


class AlarmsConfig(AppConfig):
    name = "zkdash.alarms"
    label = "alarms"
    verbose_name = "Alarms"
