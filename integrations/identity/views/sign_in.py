"""The one sign-in page: a provider, our own accounts, and in the sandbox any person."""

from __future__ import annotations

from typing import Any, cast

from allauth.mfa.models import Authenticator
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from incidents.forms.people import joinable
from incidents.models import Person
from incidents.views import signed_in
from integrations.identity import browsers, second_factor, tries
from integrations.identity.sandbox import give_roles, titles

BACKEND = settings.AUTHENTICATION_BACKENDS[0]
DOWN = 503  # a provider does not answer; our own accounts still work


class SignInForm(AuthenticationForm):
    """Ask for a name and a password, and require a pause after too many tries."""

    error_messages = {
        "invalid_login": "Wrong username or password.",
        "inactive": "Wrong username or password.",
    }

    def clean(self) -> dict[str, Any]:
        counted = self._counted()
        if seconds := tries.take(counted):
            raise forms.ValidationError(f"Too many attempts. Try again in {tries.wait(seconds)}.", code="paused")
        cleaned: dict[str, Any] = super().clean()
        tries.clear(counted)
        return cleaned

    def _counted(self) -> dict[tries.TryLimit, str]:
        request = cast("HttpRequest", self.request)
        name, place = str(self.data.get("username", ""))[:150].lower(), where(request)
        if which := browsers.known(request, name):
            return {tries.KNOWN: which}
        return {tries.PAIR: f"{place}|{name}", tries.PLACE: place, tries.ACCOUNT: name}


class SignInPage(LoginView):
    """The sign-in page."""

    template_name = "sign_in.html"
    authentication_form = SignInForm

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        self.redirect_authenticated_user = not in_sandbox()  # in the sandbox, people switch to another person
        response = super().dispatch(request, *args, **kwargs)
        response.headers["Cache-Control"] = "no-store, private"
        return response

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Sign in with one of our own accounts, if they are enabled."""
        if not settings.FIREKIND.sign_in.local:
            raise Http404("No such page.")
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Sign in, or continue to the second factor."""
        user = form.get_user()
        if Authenticator.objects.filter(user=user).exists():
            from allauth.account.utils import perform_login  # loads 13 MiB: only for people with a second factor

            answer: HttpResponse = perform_login(self.request, user, redirect_url=self.get_success_url())
            return answer
        login(self.request, user, backend=BACKEND)
        self._go_on_with_a_second_factor()
        response = redirect(self.get_success_url())
        browsers.remember(response, user)
        return response

    def _go_on_with_a_second_factor(self) -> None:
        if not second_factor.is_needed():
            messages.info(self.request, "Your account has no second factor yet. Set one up under Your account.")
            return
        from allauth.account.internal.flows import reauthentication  # loads 13 MiB, as does the next page

        second_factor.want(self.request, then=self.get_success_url())
        reauthentication.reauthenticate_by_password(self.request)  # or the next page would ask for it again

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | ways() | {"ended": signed_in.ENDED in self.request.GET}


def ways() -> dict[str, Any]:
    """Return the ways to sign in that the page offers."""
    sandbox, rules = in_sandbox(), settings.FIREKIND.sign_in
    people = [(one, titles().get(one.email, "")) for one in pickable()] if sandbox else []
    return {"people": people, "sandbox": sandbox, "providers": rules.providers, "local": rules.local}


def refused(request: HttpRequest, words: str, *, status: int = 403) -> HttpResponse:
    """Show the page with the reason for refusing the sign-in."""
    shown = {"form": SignInForm(request), "refused": words, "down": status == DOWN, "next": "", **ways()}
    response = render(request, "sign_in.html", shown, status=status)
    response.headers["Cache-Control"] = "no-store, private"
    return response


@require_POST
def sign_in_as(request: HttpRequest, pk: int) -> HttpResponse:
    """Sign in as a person of the sandbox; outside the sandbox the page does not exist."""
    if not in_sandbox():
        raise Http404("No such page.")
    give_roles()
    person = get_object_or_404(pickable(), pk=pk)
    request.way_in = "sandbox"  # type: ignore[attr-defined]  # for the audit
    login(request, _account(person), backend=BACKEND)
    return redirect(back(request))


def in_sandbox() -> bool:
    """Return whether people may pick who they are."""
    return bool(settings.FIREKIND.sandbox_url)


def pickable() -> QuerySet[Person]:
    """Return the people in the sandbox's workspace."""
    return joinable().exclude(chat_id=None).order_by("name", "pk")


def where(request: HttpRequest) -> str:
    """Return the network that tries from this request are counted by."""
    return tries.place(str(request.META.get("REMOTE_ADDR", "")))


def back(request: HttpRequest) -> str:
    """Return the page of ours that the person was going to."""
    to = request.POST.get("next", "")
    return to if url_has_allowed_host_and_scheme(to, allowed_hosts={request.get_host()}) else "/"


def _account(person: Person) -> User:
    if person.user is None:
        person.user, _ = User.objects.get_or_create(
            username=f"sandbox:{person.chat_id}",
            defaults={"first_name": person.name[:150], "email": person.email, "password": make_password(None)},
        )
        person.save(update_fields=["user"])
    return person.user
