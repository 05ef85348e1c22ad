"""Users, groups and grants in the admin: whom there is, and which role each has on which clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest

from zkdash.access.models import Grant
from zkdash.access.site import Administered, site

if TYPE_CHECKING:  # generic for the type checker only
    _Inline = admin.TabularInline[Grant, User]
    _UserAdmin = UserAdmin[User]
else:
    _Inline, _UserAdmin = admin.TabularInline, UserAdmin


class Grants(_Inline):
    """The grants of one user or one group, beside the rest of it."""

    model = Grant
    extra = 1
    fields: ClassVar = ["role", "clusters", "messages"]

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002 - Django's
        return self.admin_site.has_permission(request)

    has_change_permission = has_delete_permission = has_add_permission = has_view_permission


@admin.register(User, site=site)
class Users(Administered, _UserAdmin):
    """Users: a superuser is admin of every cluster, others are what is granted to them or their groups."""

    list_display = ("username", "is_active", "is_superuser", "last_login")
    list_filter = ("is_active", "is_superuser", "groups")
    search_fields = ("username",)
    filter_horizontal = ("groups",)
    inlines: ClassVar = [Grants]
    readonly_fields = ("last_login", "date_joined")
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("May sign in, and is admin of everything", {"fields": ("is_active", "is_superuser", "groups")}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )


@admin.register(Group, site=site)
class Groups(Administered, GroupAdmin):
    """Groups of users; what Django calls permissions plays no part."""

    fields = ("name",)
    filter_horizontal = ()
    inlines: ClassVar = [Grants]


@admin.register(Grant, site=site)
class GrantsOfAll(Administered):
    """Every grant in one list."""

    list_display = ("holder", "role", "clusters", "messages")
    list_filter = ("role", "messages")
    list_select_related = ("user", "group")

    @admin.display(description="who")
    def holder(self, grant: Grant) -> str:
        return str(grant.user or f"group {grant.group}")
