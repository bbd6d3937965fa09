"""Coming in: accounts, and in the sandbox a page to pick which person you are."""

from __future__ import annotations

import hashlib
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView
from django.core.cache import cache
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from incidents.forms.people import joinable
from incidents.models import Person

TRIES = 5
PAUSE_S = 60


class SignInForm(AuthenticationForm):
    """Ask for a name and a password; after a few wrong ones from one place, ask for a pause.

    Tries are counted by each web process for itself: gentle on people, dull for machines.
    """

    error_messages = {
        "invalid_login": "That name and password do not go together.",
        "inactive": "That name and password do not go together.",
        "paused": "Too many tries. Wait a minute, then try again.",
    }

    def clean(self) -> dict[str, Any]:
        key = self._key()
        if cache.get(key, 0) >= TRIES:
            raise forms.ValidationError(self.error_messages["paused"], code="paused")
        try:
            cleaned: dict[str, Any] = super().clean()
        except forms.ValidationError:
            cache.add(key, 0, PAUSE_S)
            cache.incr(key)
            raise
        return cleaned

    def _key(self) -> str:
        place = self.request.META.get("REMOTE_ADDR", "") if self.request else ""
        who = f"{place}|{self.data.get('username', '')}"
        return "sign-in:" + hashlib.sha256(who.encode()).hexdigest()


class SignIn(LoginView):
    """The sign-in page."""

    template_name = "sign_in.html"
    authentication_form = SignInForm

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        self.redirect_authenticated_user = not in_sandbox()  # there, people change who they are
        return super().dispatch(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        people = pickable() if in_sandbox() else Person.objects.none()
        return super().get_context_data(**kwargs) | {"people": people, "sandbox": in_sandbox()}


@require_POST
def sign_in_as(request: HttpRequest, pk: int) -> HttpResponse:
    """Sign in as one person of the sandbox; anywhere else there is no such page."""
    if not in_sandbox():
        raise Http404("No such page.")
    person = get_object_or_404(pickable(), pk=pk)
    login(request, _account(person))
    return redirect(_back(request))


def in_sandbox() -> bool:
    """Tell whether people may pick who they are."""
    return bool(settings.FIREKIND.sandbox_url)


def pickable() -> QuerySet[Person]:
    """Return the people of the sandbox's workspace."""
    return joinable().exclude(chat_id=None).order_by("name", "pk")


def _account(person: Person) -> User:
    if person.user is None:
        person.user, _ = User.objects.get_or_create(
            username=f"sandbox:{person.chat_id}", defaults={"first_name": person.name[:150], "email": person.email}
        )
        person.save(update_fields=["user"])
    return person.user


def _back(request: HttpRequest) -> str:
    to = request.POST.get("next", "")
    return to if url_has_allowed_host_and_scheme(to, allowed_hosts={request.get_host()}) else "/"
