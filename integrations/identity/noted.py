"""Audit entries for sign-in. They leave out typed names, because people type passwords into the wrong field."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AbstractBaseUser, User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest

import audit
from incidents.models import Person


def note(kind: str, user: AbstractBaseUser | None, **data: Any) -> None:
    """Record an audit entry of a kind about an account."""
    person = Person.objects.filter(user=user.pk).first() if user is not None and user.pk else None
    name = person.name if person is not None else getattr(user, "username", "")
    audit.note(kind, by=person.pk if person is not None else None, by_name=name, data=data)


@receiver(user_logged_in)
def _came_in(request: HttpRequest | None, user: User, sociallogin: Any = None, **_: Any) -> None:
    if request is not None:
        note("sign-in", user, way=getattr(request, "way_in", "account"))


@receiver(user_login_failed)
def _failed(credentials: dict[str, Any], **_: Any) -> None:
    user = User.objects.filter(username=credentials.get("username", "")).first()
    note("sign-in-failed", user, why="password" if user is not None else "unknown name")


@receiver(user_logged_out)
def _left(user: User | None, **_: Any) -> None:
    if user is not None:
        note("sign-out", user)
