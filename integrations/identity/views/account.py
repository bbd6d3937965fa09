"""Your account: how you sign in, and where you are signed in."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from incidents.drills import agreement
from incidents.views.signed_in import Request, signed_in
from integrations.identity import sessions
from integrations.identity.models import Session
from integrations.identity.noted import note


@dataclass(frozen=True, slots=True)
class Visit:
    """One signed-in browser; `ref` identifies it without revealing the session key."""

    ref: str
    browser: str
    place: str
    began_at: datetime | None
    seen_at: datetime | None
    here: bool


@signed_in
def account(request: Request) -> HttpResponse:
    """Show the account page."""
    user = _user(request)
    mine = list(Authenticator.objects.filter(user=user).order_by("created_at"))
    rules = settings.FIREKIND.sign_in
    names = {one.key: one.name for one in rules.providers}
    joined = SocialAccount.objects.filter(user=user).values_list("provider", flat=True)
    shown = {
        "local": user.has_usable_password() and rules.local,
        "name": user.get_username(),
        "app": next((one for one in mine if one.type == Authenticator.Type.TOTP), None),
        "keys": [_key(one) for one in mine if one.type == Authenticator.Type.WEBAUTHN],
        "codes": any(one.type == Authenticator.Type.RECOVERY_CODES for one in mine),
        "providers": [names[key] for key in joined if key in names],
        "visits": [_visit(one, request) for one in sessions.of(user.pk)],
        "rules": rules,
        "person": request.person,
    }
    return render(request, "identity/account.html", shown)


@signed_in
@require_POST
def end(request: Request, ref: str) -> HttpResponse:
    """End one of your own sessions."""
    user = _user(request)
    one = next((one for one in sessions.of(user.pk) if _ref(one) == ref), None)
    if one is None:
        raise Http404("No such session.")
    one.delete()
    note("account", user, ended="a session")
    messages.success(request, "Signed out that session.")
    return redirect("account")


@signed_in
@require_POST
def end_all(request: Request) -> HttpResponse:
    """End all of your own sessions, including this one."""
    user = _user(request)
    ended = sessions.end(user.pk, but=request.session.session_key) + 1
    note("account", user, ended=f"{ended} sessions")
    logout(request)
    messages.success(request, "You're signed out everywhere.")
    return redirect("sign-in")


@signed_in
@require_POST
def drills(request: Request) -> HttpResponse:
    """Record whether a person agrees to be invited to drills."""
    agreement.agree(request.person, agrees=request.POST.get("agrees") == "1")
    agrees = request.person.agrees_to_drills
    messages.success(request, "You are invited to drills now." if agrees else "You are no longer invited to drills.")
    return redirect("account")


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User), "signed_in lets no one else come here"
    return request.user


def _key(one: Authenticator) -> dict[str, Any]:
    return {"pk": one.pk, "name": one.data.get("name", ""), "added_at": one.created_at, "used_at": one.last_used_at}


def _visit(one: Session, request: HttpRequest) -> Visit:
    here = one.session_key == request.session.session_key
    return Visit(_ref(one), one.browser or "a browser", one.place, one.began_at, one.seen_at, here)


def _ref(one: Session) -> str:
    return hashlib.sha256(one.session_key.encode()).hexdigest()[:24]
