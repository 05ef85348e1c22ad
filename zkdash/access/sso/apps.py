"""Single sign-on, as a Django app."""

from django.apps import AppConfig


class SsoConfig(AppConfig):
    name = "zkdash.access.sso"
    label = "sso"
    verbose_name = "Single sign-on"
