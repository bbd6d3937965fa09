"""Browsers for people who have no account yet."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.test import Client

from incidents.models import Person


def signed_in(person: Person) -> Client:
    """Return a browser in which a person is signed in, creating an account if they have none."""
    if person.user is None:
        person.user = User.objects.create_user(f"user{person.pk}")
        person.save(update_fields=["user"])
    client = Client()
    client.force_login(person.user)
    return client
