"""Every address of zkdash; each room that has pages lists its own."""

from django.urls import include, path

urlpatterns = [path("", include("zkdash.web.urls"))]
