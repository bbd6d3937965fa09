"""Whatever shows or exports evidence of a private incident is in the audit log, whatever path it leaves by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.http.response import HttpResponseBase

from audit.models import Entry
from incidents.audited import audit_notes
from incidents.models import Incident
from integrations.tests.outsiders import alike, table
from integrations.tests.outsiders.scene import ANONYMOUS, MEMBER, WORD, Scene
from integrations.tests.outsiders.table import EVIDENCE, OF_INCIDENTS

LEFT = {"download", "export", "viewed"}
FILES = {"download", "export"}
OF_ONE = [route for route in OF_INCIDENTS if route.startswith(EVIDENCE) and "<int:n>" in route]
COMPARED = [f"{EVIDENCE}compare/", f"{EVIDENCE}compare.json", f"{EVIDENCE}compare-search.json"]
NUMBERS = ("1", "2", "3", "4")  # two profiles, benchmarks and a text
SPEEDSCOPE = ("profile.speedscope.json", "original.json")
MORE = {"": "?csv", "png": "?small", "original": "?inline", "boxes.json": "?root=0", "search.json": "?q=rotate"}

Noted = list[tuple[str, dict[str, Any]]]


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> Noted:
    """Collect audit entries, including repeats within the hour."""
    heard: Noted = []
    note, once = audit_notes.note, audit_notes.once

    def noting(kind: str, **more: Any) -> None:
        heard.append((kind, more))
        note(kind, **more)

    def noting_once(key: str, kind: str, **more: Any) -> None:
        heard.append((kind, more))
        once(key, kind, **more)

    monkeypatch.setattr(audit_notes, "note", noting)
    monkeypatch.setattr(audit_notes, "once", noting_once)
    return heard


def addresses(codename: str) -> Iterator[str]:
    """Yield every path about one or several pieces of evidence."""
    for route in OF_ONE:
        for n in NUMBERS:
            row = table.Row({"<int:n>": (n,), "<str:name>": SPEEDSCOPE})
            asks = {"", MORE.get(route.rpartition("/")[2], "")}
            yield from (address + ask for address in row.addresses(route, codename) for ask in sorted(asks))
    for route in COMPARED:
        yield from (f"{address}?control=1&with=2" for address in table.Row().addresses(route, codename))


def is_file(response: HttpResponseBase) -> bool:
    """Return whether a response is a download or an image."""
    kind = response.headers["Content-Type"]
    attached = "attachment" in response.headers.get("Content-Disposition", "")
    return attached or kind.startswith(("image/", "application/octet-stream", "text/csv", "text/plain"))


def test_every_address_that_gives_evidence_away_is_noted(scene: Scene, hidden: Incident, noted: Noted) -> None:
    client, dee = scene.browser(MEMBER), scene.person(MEMBER)
    given, files = 0, 0
    for address in addresses(hidden.codename):
        noted.clear()
        response = client.get(address)
        alike.text(response)
        if response.status_code != 200 or address.endswith("speedscope/app"):
            continue
        given += 1
        about = [(kind, more) for kind, more in noted if kind in LEFT and more.get("evidence")]
        assert about, f"{address} leaves no entry"
        assert {(more["by"], more["about"]) for _, more in about} == {(dee, hidden.codename)}, address
        if is_file(response) or "speedscope/file" in address:
            files += 1
            assert FILES & {kind for kind, _ in about}, f"{address} gives a file, and no entry says so"
    assert given > 30
    assert files > 10
    assert not [one for one in Entry.objects.filter(kind__in=LEFT) if WORD in str((one.about, one.data))]


def test_the_api_is_noted_too(scene: Scene, hidden: Incident, noted: Noted) -> None:
    token, client = scene.token(MEMBER), scene.browser(ANONYMOUS)
    for address in (f"/api/v1/incidents/{hidden.codename}/evidence", f"/api/v1/incidents/{hidden.codename}/evidence/1"):
        noted.clear()
        response = client.get(address, headers={"Authorization": f"Bearer {token}"})
        assert response.status_code == 200
        assert ("viewed", 1) in [(kind, more.get("evidence")) for kind, more in noted], address
