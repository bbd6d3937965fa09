"""Pages of figures are the same when everything is read of each incident: each asks for all that it shows."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest
from django.db import connection
from django.test import Client

from incidents.models import Person
from incidents.tests import shipped
from incidents.tests.conftest import someone
from insights import histories
from insights.figures.chapters import CHAPTERS, FIGURES
from stack import seed

AMOUNT: Final = seed.Amount(incidents=60, events=4, in_all_private="UADA", lives=True)
SECRET: Final = re.compile(r'"[\w-]{20,}"')  # differs on every page


@pytest.mark.parametrize("slug", [*CHAPTERS, *(f"{one}.csv" for one in FIGURES), *FIGURES])
def test_a_page_is_the_same_when_everything_is_read(slug: str, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped.bring()
    ada = someone("Ada")
    Person.objects.filter(pk=ada.pk).update(chat_id="UADA")
    connection.ensure_connection()
    seed.fill(connection.connection, AMOUNT)
    client = Client()
    assert ada.user is not None
    client.force_login(ada.user)

    def shown() -> list[str]:
        paths = [f"/insights/{slug}"]
        if slug in FIGURES:
            chapter = next(one for one in CHAPTERS.values() if FIGURES[slug] in one.figures)
            page = client.get(f"/insights/{chapter.slug}").content.decode()
            paths = sorted(set(re.findall(rf'"(/insights/{slug}/[^"]*)"', page)))
        assert paths
        return [SECRET.sub("", client.get(path).content.decode()) for path in paths]

    asked = shown()
    read = histories.read

    def whole(incidents: Any, *_: str, known: Any) -> list[Any]:
        return read(incidents, *histories.READ, "steps", known=known)

    monkeypatch.setattr(histories, "read", whole)
    assert shown() == asked
