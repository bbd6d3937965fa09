"""The list of incidents for a spreadsheet, with cells that no spreadsheet runs as formulas."""

from __future__ import annotations

import csv
from typing import Final

from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_GET

from incidents.audited import audit_notes
from incidents.models import IncidentType
from incidents.search import IncidentFilters, newest
from incidents.views.signed_in import Request, signed_in

FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")  # how cells begin that a spreadsheet would run
CSV_COLUMNS: Final = ("codename", "title", "type", "state", "private", "lead", "services", "declared", "ended", "drill")


@require_GET
@signed_in
def as_csv(request: Request) -> HttpResponse:
    """Export what matches the filters, up to 1,000 incidents, for a spreadsheet."""
    filters = IncidentFilters.read(request.GET)
    # The filters' names and not their values: the audit log stores nothing that a title may say.
    audit_notes.note("export", by=request.person, about="incidents", filters=filters.used)
    types = {one.pk: one.policy.name for one in IncidentType.objects.select_related("current")}
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="incidents.csv"'
    writer = csv.writer(response)
    writer.writerow(CSV_COLUMNS)
    for one in newest(filters, person=request.person):
        times = [at and timezone.localtime(at).isoformat(timespec="seconds") for at in (one.declared_at, one.ended_at)]
        said = [one.codename, one.title, types[one.type_id], one.get_status_display(), "yes" if one.private else "no"]
        said += [one.lead.name if one.lead else "", ", ".join(one.services)]
        writer.writerow([harmless(cell) for cell in (*said, *times, "yes" if one.is_drill else "no")])
    return response


def harmless(value: object) -> object:
    """Format a cell so that no spreadsheet runs what someone typed as a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
