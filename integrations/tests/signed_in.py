"""Browsers of people in whose house no account was made for them."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.test import Client

from incidents.models import Person


def signed_in(person: Person) -> Client:
    """Give somebody a browser in which they are signed in, and an account where they have none."""
    if person.user is None:
        person.user = User.objects.create_user(f"user{person.pk}")
        person.save(update_fields=["user"])
    client = Client()
    client.force_login(person.user)
    return client
