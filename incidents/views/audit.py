"""The audit log for auditors: who did, saw and changed what. It contains codenames and never a title."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from audit import kinds, search
from audit.models import Entry, Seal
from audit.request_origin import DOORS
from audit.search import PAGE, AuditFilters
from incidents import visibility
from incidents.audited import audit_notes
from incidents.models import Person
from incidents.views.allowed import needs
from incidents.views.lists.spreadsheet import harmless
from incidents.views.signed_in import Request, signed_in

CSV_ROWS: Final = 10_000
COLUMNS: Final = ("n", "at", "kind", "by", "by_name", "about", "door", "address", "data")
NOBODY: Final = {"terminal": "Someone at a terminal", "system": "Firekind"}
PEOPLE: Final = ("person", "people", "asked_by", "second")  # keys of an entry's data that hold ids of people


@dataclass(frozen=True, slots=True)
class AuditDetail:
    """A detail of an entry beyond its columns; a person's name links to what they did."""

    words: str
    link: str = ""


@dataclass(frozen=True, slots=True)
class AuditLine:
    """An entry in words."""

    entry: Entry
    nobody: str  # shown in place of a name if there is none
    said: str
    details: list[tuple[str, list[AuditDetail]]]
    where: str
    link: str = ""  # to what it is about, if the reader may see that


@require_GET
@signed_in
@needs("audit")
def listing(request: Request) -> HttpResponse:
    """Show one page of entries, newest first."""
    audit_notes.once(f"audit-read:{request.person.pk}:{timezone.now():%Y-%m-%dT%H}", "audit-read", by=request.person)
    filters = AuditFilters.read(request.GET.dict())
    found = list(search.find(filters)[: PAGE + 1])
    context = {
        "here": "audit",
        "filters": filters,
        "kinds": sorted(kinds.KINDS.items(), key=lambda one: one[1]),
        "rows": shown(found[:PAGE], reader=request.person),
        "older": address(filters, before=str(found[PAGE - 1].n)) if len(found) > PAGE else "",
        "newest": address(filters) if filters.before else "",
        "csv": reverse("audit-csv") + filters.to(),
        "head": Seal.objects.only("n", "at", "hash").order_by("-n").first(),
    }
    return render(request, "audit/list.html", context)


@require_GET
@signed_in
@needs("audit")
def as_csv(request: Request) -> HttpResponse:
    """Export the newest entries that match the filters, for a spreadsheet; the terminal exports all of them."""
    filters = AuditFilters.read(request.GET.dict())
    audit_notes.note("export", by=request.person, about="audit", filters=filters.to())
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="audit.csv"'
    writer = csv.writer(response)
    writer.writerow(COLUMNS)
    for one in search.find(filters)[:CSV_ROWS]:
        writer.writerow([_cell(getattr(one, name)) for name in COLUMNS])
    return response


def address(filters: AuditFilters, **changes: str) -> str:
    """Return the address of this page with some filters changed."""
    return reverse("audit") + filters.to(**changes)


def shown(entries: Sequence[Entry], *, reader: Person) -> list[AuditLine]:
    """Put entries into words, with people by name: three queries for all of them."""
    ids = {id for one in entries for name in PEOPLE for id in _ids(one.data.get(name))}
    names = dict(Person.objects.filter(pk__in=ids).values_list("pk", "name"))
    seen = visibility.named(reader, {one.about for one in entries if one.about})
    return [_shown(one, names, link=_link(one.about) if one.about in seen else "") for one in entries]


def _shown(entry: Entry, names: Mapping[int, str], *, link: str) -> AuditLine:
    details = [
        (name.replace("_", " "), _people(value, names) if name in PEOPLE else [AuditDetail(_plain(value))])
        for name, value in entry.data.items()
        if value
    ]
    where = " · ".join(part for part in (DOORS.get(entry.door, entry.door), entry.address) if part)
    said = kinds.sentence(entry.kind)
    return AuditLine(entry, NOBODY.get(entry.door, "Someone unknown"), said, details, where, link)


def _people(value: object, names: Mapping[int, str]) -> list[AuditDetail]:
    """Name the people that an entry refers to by id; a person who is no longer known is shown by id."""
    known = [(id, names.get(id)) for id in _ids(value)]
    return [
        AuditDetail(name, address(AuditFilters(who=name))) if name else AuditDetail(f"person {id}")
        for id, name in known
    ]


def _ids(value: object) -> list[int]:
    """Return the ids in a value, which holds one or several."""
    return [one for one in (value if isinstance(value, list) else [value]) if type(one) is int]


def _link(codename: str) -> str:
    return reverse("incident", args=[codename])


def _plain(value: object) -> str:
    """Write a value of an entry's data in words."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_plain(one)}" for name, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(_plain, value))
    return {"True": "yes", "False": "no", "None": "nobody"}.get(str(value), str(value))


def _cell(value: object) -> object:
    """Format a cell so that no spreadsheet runs a person's name as a formula."""
    return harmless(json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value)
