"""Actions and the audit in Django's admin: to be looked at, and actions to be approved or stopped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from zkdash.access import rights
from zkdash.access.roles import Right
from zkdash.access.site import ReadOnly, site
from zkdash.actions import documents
from zkdash.actions.models import Action, Audit
from zkdash.actions.queue import queue
from zkdash.actions.queue.queue import Actor, QueueError


@admin.register(Action, site=site)
class Actions(ReadOnly):
    """Actions, newest first; their plans are on the pages of their clusters."""

    list_display = ("id", "cluster", "kind", "on", "state", "by", "approved_by", "requested_at", "result")
    list_filter = ("state", "cluster", "kind", "source")
    search_fields = ("by", "reason", "result")
    ordering = ("-id",)
    exclude = ("target", "intent", "plan")
    actions = ["approve", "stop"]
    show_full_result_count = False

    @admin.display(description="target")
    def on(self, action: Action) -> str:
        return _printable(action.target)

    @admin.action(description="Approve selected actions")
    def approve(self, request: HttpRequest, queryset: QuerySet[Action]) -> None:
        self._ask(request, queryset, Right.APPROVE, queue.approve)

    @admin.action(description="Stop selected actions")
    def stop(self, request: HttpRequest, queryset: QuerySet[Action]) -> None:
        self._ask(request, queryset, Right.ACT, queue.stop)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Without Django's own, which deletes."""
        return {name: choice for name, choice in super().get_actions(request).items() if name in self.actions}

    def _ask(
        self,
        request: HttpRequest,
        chosen: QuerySet[Action],
        right: Right,
        deed: Callable[[int, Actor], Action],
    ) -> None:
        """Ask it of each, and tell what became of each."""
        holder_rights = rights.of(request.user, anonymous_reads=False)
        who = Actor(holder_rights.name, holder_rights.user_id)
        for action_id, cluster in chosen.order_by("id").values_list("id", "cluster"):
            if not holder_rights.may(right, cluster):
                self.message_user(request, f"You may not {right.value} on {cluster}.", messages.ERROR)
                continue
            try:
                self.message_user(request, str(deed(action_id, who)), messages.SUCCESS)
            except QueueError as error:
                self.message_user(request, str(error), messages.ERROR)


@admin.register(Audit, site=site)
class Audits(ReadOnly):
    """What happened, newest first."""

    list_display = ("id", "at", "who", "event", "cluster", "action", "step", "where", "zxid", "what")
    list_filter = ("event", "cluster")
    search_fields = ("who",)
    ordering = ("-id",)
    fields = (*list_display, "before_hash", "after_hash", "row_hash")
    readonly_fields = ("where", "what", "before_hash", "after_hash", "row_hash")
    show_full_result_count = False

    @admin.display(description="path")
    def where(self, row: Audit) -> str:
        return _printable(row.path)

    @admin.display(description="detail")
    def what(self, row: Audit) -> str:
        return _printable(row.detail)

    @admin.display(description="SHA-256 before")
    def before_hash(self, row: Audit) -> str:
        return bytes(row.before).hex()

    @admin.display(description="SHA-256 after")
    def after_hash(self, row: Audit) -> str:
        return bytes(row.after).hex()

    @admin.display(description="hash of this row")
    def row_hash(self, row: Audit) -> str:
        return bytes(row.hash).hex()


def _printable(data: bytes | memoryview) -> str:
    """A name for a page: lone surrogates cannot be sent, they are written out."""
    return documents.unpack(data).encode("utf-8", "backslashreplace").decode()
