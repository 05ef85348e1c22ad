"""Signing in and out, and the one-time link that makes an administrator. GET never changes anything here."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from typing import Any, cast
from urllib.parse import urlencode

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.forms import AuthenticationForm, UserCreationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, PasswordChangeView
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse, reverse_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from zkdash import program
from zkdash.access import administrators, attempts
from zkdash.access.administrators import Standing
from zkdash.access.attempts import TooManyError
from zkdash.access.signals import limited
from zkdash.door import places
from zkdash.door.addresses import Addresses
from zkdash.web.frame import answers

BACKEND = "django.contrib.auth.backends.ModelBackend"
_OFTEN = {
    attempts.OF_NAME: "Too many attempts to sign in with this name.",
    attempts.OF_ADDRESS: "Too many attempts to sign in from your address.",
}
_CROWDED = "Too many people sign in at this moment. Nothing was tried; send it again in a few seconds."
_CROWDED_S = 3
_NO_LINK: dict[Standing, tuple[int, str]] = {
    Standing.USED: (410, "This link has been used; it works once."),
    Standing.EXPIRED: (410, "This link has ended: it worked for an hour."),
    Standing.NONE: (404, "This is no link that zkdash gave out, or a newer one has taken its place."),
}


class Credentials(AuthenticationForm):
    """Name and password. Whom a directory vouches for, and who is refused here, hears why."""

    def clean(self) -> dict[str, Any]:
        """Count the attempt, then judge it. Raises TooManyError."""
        name, request = self.cleaned_data.get("username"), self.request
        if name and self.cleaned_data.get("password") and request is not None:
            _take(request, name)
        return super().clean()

    def get_invalid_login_error(self) -> ValidationError:
        sentence = getattr(self.request, "zkdash_refused", "")
        return ValidationError(sentence) if sentence else super().get_invalid_login_error()


class SignIn(LoginView):
    """The one place to sign in; where it leads to is checked against foreign addresses by Django."""

    template_name = "accounts/sign_in.html"
    authentication_form = Credentials
    http_method_names = ("get", "head", "post", "options")
    extra_context = {"title": "Sign in"}

    def post(self, request: HttpRequest, *args: str, **kwargs: Any) -> HttpResponse:
        try:
            return super().post(request, *args, **kwargs)
        except TooManyError as error:
            return _too_many(request, error)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        _give_back(self.request, form.cleaned_data["username"])
        return super().form_valid(form)

    def get_redirect_url(self, request: HttpRequest | None = None) -> str:  # noqa: ARG002 - the stubs' signature
        """Django takes "//", which names no host, for an address of ours; to a browser it is none at all."""
        wanted = super().get_redirect_url()
        return "" if wanted.startswith("//") else wanted

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
    success_url = reverse_lazy("cluster-list")

    def post(self, request: HttpRequest, *args: str, **kwargs: Any) -> HttpResponse:
        """Guessing the old one is guessing too: whoever sits at somebody's browser has no more attempts."""
        try:
            _take(request, request.user.get_username())
            return super().post(request, *args, **kwargs)
        except TooManyError as error:
            return _too_many(request, error)

    def form_valid(self, form: Any) -> HttpResponse:
        _give_back(self.request, self.request.user.get_username())
        return super().form_valid(form)


def admitted(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Of those that send a password so many come in at once; for the others nothing is done."""

    @functools.wraps(view)
    async def admit(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        is_sent = request.method == "POST"
        if is_sent and places.enter(getattr(request, "scope", {}), places.SIGN_INS, None):
            return await sync_to_async(_later)(request, "Too many at once", _CROWDED, _CROWDED_S)
        return await sync_to_async(view)(request, *args, **kwargs)

    return cast("Callable[..., HttpResponseBase]", admit)  # Django's types know no other views


def _take(request: HttpRequest, name: str) -> None:
    try:
        attempts.take(name, _counted(request), settings.ZKDASH_LIMITS, time.time())
    except TooManyError as error:
        if error.is_first:
            limited.send(sender=Credentials, request=request, name=name, limit=error.limit)
        raise


def _give_back(request: HttpRequest, name: str) -> None:
    attempts.give_back(name, _counted(request), settings.ZKDASH_LIMITS)


def _counted(request: HttpRequest) -> str | None:
    """The address that attempts are counted by, as the door has it: None for a proxy's own."""
    return _addresses(tuple(settings.ZKDASH_PROXIES)).of((address(request),))


@functools.cache
def _addresses(proxies: tuple[str, ...]) -> Addresses:
    return Addresses(proxies)


def _too_many(request: HttpRequest, error: TooManyError) -> HttpResponse:
    minutes = math.ceil(error.wait_s / 60)
    wait = f"{minutes} minutes" if minutes > 1 else "a minute"
    sentence = f"{_OFTEN[error.limit]} Nothing was tried; wait {wait}."
    return _later(request, "Too many attempts", sentence, error.wait_s)


def _later(request: HttpRequest, title: str, sentence: str, wait_s: int) -> HttpResponse:
    response = answers.problem(request, 429, title, sentence)
    response["Retry-After"] = str(wait_s)
    return response


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
        return HttpResponseRedirect(reverse("cluster-list"))
    return render(request, "accounts/welcome.html", {"title": "Welcome", "form": form, "name": name})


def _chosen(form: UserCreationForm[User]) -> tuple[str, str]:
    return form.cleaned_data["username"], form.cleaned_data["password1"]


def _no_link(request: HttpRequest, standing: Standing) -> HttpResponse:
    status, sentence = _NO_LINK[standing]
    another = f"Whoever runs zkdash makes another with “{program.line('createadmin --link')}”."
    return answers.problem(request, status, "No such link", f"{sentence} {another}")
