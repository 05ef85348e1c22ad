"""Django's admin, for who administers every cluster: users, groups and the roles granted to them.

Other rooms register their models in their own `admin.py`, which Django imports by itself:

    from zkdash.access.site import ReadOnly, site

    @admin.register(Audit, site=site)
    class AuditAdmin(ReadOnly):
        list_display = ("id", "at", "who", "event")

Both kinds of ModelAdmin ask the site and not Django's permissions, which zkdash does not use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from zkdash.access import rights, signals

if TYPE_CHECKING:  # generic for the type checker only
    _ModelAdmin = admin.ModelAdmin[Model]
else:
    _ModelAdmin = admin.ModelAdmin


class Site(admin.AdminSite):
    """The admin at /admin/; it has no sign-in of its own."""

    site_header = site_title = "zkdash administration"
    index_title = "Who may do what"
    enable_nav_sidebar = False

    def has_permission(self, request: HttpRequest) -> bool:
        return rights.of(request.user, anonymous_reads=False).administers

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:  # noqa: ARG002 - Django's signature
        """Where Django sends whom it does not let in: to the one sign-in page, or it says so."""
        index = reverse("admin:index", current_app=self.name)
        if self.has_permission(request):
            return HttpResponseRedirect(index)
        if request.user.is_authenticated:
            raise PermissionDenied("Only administrators of every cluster may grant roles.")
        wanted = request.GET.get(REDIRECT_FIELD_NAME) or index
        return HttpResponseRedirect(f"{settings.LOGIN_URL}?{urlencode({REDIRECT_FIELD_NAME: wanted})}")


class Administered(_ModelAdmin):
    """A model that administrators may change."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.admin_site.has_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002 - Django's
        return self.admin_site.has_permission(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.admin_site.has_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002 - Django's
        return self.admin_site.has_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002 - Django's
        return self.admin_site.has_permission(request)

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> LogEntry:
        _tell(request, "added", obj, message)
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> LogEntry:
        _tell(request, "changed", obj, message)
        return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Model]) -> Any:
        for row in queryset:
            _tell(request, "deleted", row, [])
        return super().log_deletions(request, queryset)


def _tell(request: HttpRequest, deed: str, row: Model, changes: Any) -> None:
    kind = str(row._meta.verbose_name)  # noqa: SLF001 - documented in spite of its name
    signals.administered.send(
        type(row), request=request, deed=deed, kind=kind, what=str(row), changes=changes
    )


class ReadOnly(Administered):
    """A model that the admin shows and never changes."""

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002 - Django's signature
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002 - Django's
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002 - Django's
        return False


site = Site(name="admin")
