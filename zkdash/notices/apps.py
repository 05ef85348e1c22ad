"""What others are told of, as a Django app."""

from django.apps import AppConfig


class NoticesConfig(AppConfig):
    name = "zkdash.notices"
    label = "notices"
    verbose_name = "Notices"
