"""One's own tokens at /tokens/: made, shown once, listed with their last use, revoked. For people only."""

from __future__ import annotations

from datetime import timedelta
from typing import cast

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from zkdash.access import tokens
from zkdash.access.models import Token
from zkdash.access.rights import Rights
from zkdash.access.roles import Role
from zkdash.actions import audit
from zkdash.actions.actor import Actor
from zkdash.web.visitors import gate

_DAYS = (7, 30, 90, 365)
_SEE_OTHER, _UNPROCESSABLE = 303, 422


class TokenForm(forms.Form):
    """What a new token is for, and how far it reaches; `strongest` is the last role that can be chosen."""

    name = forms.CharField(label="Name: what uses it", max_length=100)
    role = forms.ChoiceField(label="Role, at most")
    clusters = forms.CharField(label="Clusters: a pattern (*, prod-*)", max_length=200, initial="*")
    days = forms.ChoiceField(
        label="Ends after", choices=[(str(days), f"{days} days") for days in _DAYS], initial="90"
    )

    def __init__(self, strongest: Role, data: QueryDict | None = None) -> None:
        super().__init__(data)
        roles = [(role.value, role.value) for role in Role if role.rank <= strongest.rank]
        cast("forms.ChoiceField", self.fields["role"]).choices = roles


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def own(request: HttpRequest) -> HttpResponse:
    """The list and the form; a token that was just made is in the answer to its POST and nowhere else."""
    rights, user = _person(request)
    strongest = max((role for _, role in rights.grants), key=lambda role: role.rank, default=Role.VIEWER)
    form = TokenForm(strongest, request.POST if request.method == "POST" else None)
    text = ""
    if request.method == "POST" and form.is_valid():
        try:
            text = _make(user, rights, form)
        except tokens.ScopeError as fault:
            form.add_error("role", str(fault))
    context = {
        "title": "Tokens",
        "form": TokenForm(strongest) if text else form,
        "made": text,
        "tokens": [(token, _state(token)) for token in Token.objects.filter(user=user).order_by("-pk")],
    }
    status = _UNPROCESSABLE if form.is_bound and not text else 200
    return render(request, "accounts/tokens.html", context, status=status)


@require_POST
def revoke(request: HttpRequest, number: int) -> HttpResponse:
    """End one; who shows it from now on is refused."""
    _, user = _person(request)
    with transaction.atomic():
        token = tokens.revoke(user, number)
        if token is None:
            raise Http404(f"You have no token {number}.")
        audit.append("token-revoked", _who(user), detail={"token": token.begins, "name": token.name})
    answer = HttpResponseRedirect(reverse("tokens"))
    answer.status_code = _SEE_OTHER
    return answer


def _person(request: HttpRequest) -> tuple[Rights, User]:
    """Who signed in: a token makes no other, which would outlive it."""
    rights = gate.rights(request)
    if rights.scope is not None:
        raise PermissionDenied("Tokens are made and revoked by who signs in, not by a token.")
    if not isinstance(request.user, User):
        raise gate.SignInNeeded
    return rights, request.user


def _make(user: User, rights: Rights, form: TokenForm) -> str:
    values = form.cleaned_data
    with transaction.atomic():
        token, text = tokens.make(
            user,
            values["name"],
            clusters=values["clusters"],
            role=Role(values["role"]),
            expires_at=timezone.now() + timedelta(days=int(values["days"])),
            rights=rights,
        )
        detail = {"token": token.begins, "name": token.name, "role": token.role, "clusters": token.clusters}
        audit.append("token-made", _who(user), detail=detail)
    return text


def _who(user: User) -> Actor:
    return Actor(user.get_username(), user.pk)


def _state(token: Token) -> str:
    if token.revoked_at is not None:
        return "revoked"
    return "valid" if timezone.now() < token.expires_at else "ended"
