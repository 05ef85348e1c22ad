"""Addresses of which one is broken."""

from __future__ import annotations

from typing import NoReturn

from django.http import HttpRequest
from django.urls import path


def _broken(request: HttpRequest, token: str) -> NoReturn:
    raise RuntimeError(f"{request.method} is not for you")


urlpatterns = [path("welcome/<str:token>/", _broken)]
