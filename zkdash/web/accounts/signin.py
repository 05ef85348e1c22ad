"""Signing in and out, and the one-time link that makes an administrator. GET never changes anything here."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.forms import AuthenticationForm, UserCreationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, PasswordChangeView
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from zkdash.access import administrators
from zkdash.access.administrators import Standing
from zkdash.web.frame import answers

BACKEND = "django.contrib.auth.backends.ModelBackend"
_LATER = "Wait a quarter of an hour, or have an administrator set another password."
_NO_LINK: dict[Standing, tuple[int, str]] = {
    Standing.USED: (410, "This link has been used; it works once."),
    Standing.EXPIRED: (410, "This link has ended: it worked for an hour."),
    Standing.NONE: (404, "This is no link that zkdash gave out, or a newer one has taken its place."),
}
_ANOTHER = "Whoever runs zkdash makes another with “manage.py createadmin --link”."


class Credentials(AuthenticationForm):
    """Name and password. Whom a directory vouches for, and who is refused here, hears why."""

    def get_invalid_login_error(self) -> ValidationError:
        sentence = getattr(self.request, "zkdash_refused", "")
        return ValidationError(sentence) if sentence else super().get_invalid_login_error()


class SignIn(LoginView):
    """The one place to sign in; where it leads to is checked against foreign addresses by Django."""

    template_name = "accounts/sign_in.html"
    authentication_form = Credentials
    http_method_names = ("get", "head", "post", "options")
    extra_context = {"title": "Sign in"}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs, provider=settings.ZKDASH_SIGN_IN.oidc)
        if context["provider"]:
            wanted = self.get_redirect_url()
            query = f"?{urlencode({'next': wanted}, safe='/')}" if wanted else ""
            context["begin"] = reverse("sso-begin") + query
        return context


class Password(PasswordChangeView):
    """One's own password, changed by who knows it."""

    template_name = "accounts/password.html"
    http_method_names = ("get", "head", "post", "options")
    extra_context = {"title": "Change your password"}
    success_url = "/"


def locked_out(request: HttpRequest, *_args: Any, **_kwargs: Any) -> HttpResponse:
    """What axes answers to who tries too often."""
    return answers.problem(request, 429, "Too many attempts", f"Too many attempts to sign in. {_LATER}")


def address(request: HttpRequest) -> str:
    """Where a request came from: what a header says of it counts only as far as `serve` trusts a proxy."""
    return str(request.META.get("REMOTE_ADDR") or "")


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def welcome(request: HttpRequest, token: str) -> HttpResponse:
    """A form that makes an administrator of who was given the link, and signs in."""
    standing, name = administrators.standing(token)
    if standing is not Standing.VALID:
        return _no_link(request, standing)
    form: UserCreationForm[User] | None = None
    if not name:
        form = UserCreationForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and (form is None or form.is_valid()):
        chosen, password = (name, None) if form is None else _chosen(form)
        try:
            user = administrators.redeem(token, chosen, password)
        except administrators.NotValidError:
            return _no_link(request, Standing.USED)
        login(request, user, backend=BACKEND)
        return HttpResponseRedirect("/")
    return render(request, "accounts/welcome.html", {"title": "Welcome", "form": form, "name": name})


def _chosen(form: UserCreationForm[User]) -> tuple[str, str]:
    return form.cleaned_data["username"], form.cleaned_data["password1"]


def _no_link(request: HttpRequest, standing: Standing) -> HttpResponse:
    status, sentence = _NO_LINK[standing]
    return answers.problem(request, status, "No such link", f"{sentence} {_ANOTHER}")
