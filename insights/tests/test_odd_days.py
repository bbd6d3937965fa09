"""Whatever day is in an address, the figures answer: an impossible period is empty."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from incidents.models import Person

DAYS = ("0001-01-01", "1969-12-31", "9000-12-31", "9999-12-31", "20260314", "2026-02-30", "9" * 30)


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/insights/", "/"])
def test_whatever_day_is_asked_for_there_is_an_answer(address: str) -> None:
    account = User.objects.create_user("ada")
    Person.objects.create(name="Ada", user=account)
    client = Client()
    client.force_login(account)
    for day in DAYS:
        for asked in ({"since": day}, {"until": day}, {"since": day, "until": day}, {"type": day}):
            assert client.get(address, asked).status_code == 200, (day, asked)
