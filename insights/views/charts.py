"""The pages of figures: a period's incidents, read once, and each figure with its chart and its table."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from incidents.audited import audit_notes
from incidents.models import IncidentType, Person
from incidents.views.lists.spreadsheet import harmless
from incidents.views.signed_in import Request, signed_in
from insights import collector, histories
from insights.figures import flow, matrix, strip
from insights.figures.chapters import CHAPTERS, FIGURES, InsightChapter
from insights.figures.figure import ALL, COUNTS, FLOW, MATRIX, TIMES, FigureRow, InsightFigure, TypeLook, Types
from insights.figures.history import IncidentHistory
from insights.insight_filters import InsightFilters

BEHIND = 300  # listed incidents behind one mark
LISTED = ("title", "private")  # what the list shows besides what a figure reads


@dataclass(frozen=True, slots=True)
class FigureView:
    """A figure as a page shows it: its rows, and its chart."""

    figure: InsightFigure
    rows: list[FigureRow]
    chart: Any = None

    @property
    def all(self) -> int:
        """How many things it counts."""
        return sum(len(one.counted) for one in self.rows if one.key != ALL)

    @property
    def most(self) -> int:
        """How many things the longest row counts."""
        return max((len(one.counted) for one in self.rows), default=1)


@require_GET
@signed_in
@collector.resting()
def chapter(request: Request, slug: str = "types") -> HttpResponse:
    """Show one page of figures."""
    found = CHAPTERS.get(slug)
    if found is None:
        raise Http404("No such page.")
    filters, types = InsightFilters.read(request.GET), looks()
    read = _read(filters, request.person, found.needs)
    figures = [_drawn(one, one.rows(read, types), types) for one in found.figures]
    context = _context(filters, found, types) | {
        "figures": figures,
        "count": len(read),
        "most": histories.MOST if len(read) == histories.MOST else 0,
        "list": reverse("incidents") + filters.given.to(),
    }
    response = render(request, "insights/chapter.html", context)
    figures.clear()  # a template's context refers to itself, so it and what it holds stay until the collector runs
    return response


@require_GET
@signed_in
@collector.resting()
def behind(request: Request, slug: str, row: str) -> HttpResponse:
    """List the incidents behind a row of a figure, or behind one of its marks."""
    figure = _figure(slug)
    filters, types = InsightFilters.read(request.GET), looks()
    rows = figure.rows(_read(filters, request.person, (*figure.needs, *LISTED)), types)
    found = next((one for one in rows if one.key == row), None) or FigureRow(row, "", ())
    slot = request.GET.get("slot", "")
    if slot.isdecimal() and len(slot) < 4 and figure.shape == TIMES:
        found = strip.slot_of(found, int(slot), rows)
    counted = sorted(found.counted, key=lambda one: (-(one.seconds or 0), -one.history.declared_at.timestamp()))
    chapter = next(one for one in CHAPTERS.values() if figure in one.figures)
    context = _context(filters, chapter, types) | {
        "figure": figure,
        "label": found.label,
        "counted": [(one, types.get(one.history.type)) for one in counted[:BEHIND]],
        "unshown": max(0, len(counted) - BEHIND),
    }
    return render(request, "insights/behind.html", context)


@require_GET
@signed_in
@collector.resting()
def as_csv(request: Request, slug: str) -> HttpResponse:
    """Export everything that a figure counts, one line each, for a spreadsheet."""
    figure = _figure(slug)
    filters = InsightFilters.read(request.GET)
    audit_notes.note("export", by=request.person, about="insights", filters=[slug, *filters.given.used])
    rows = figure.rows(_read(filters, request.person, figure.needs), looks())
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}.csv"'
    writer = csv.writer(response)
    writer.writerow(["row", "codename", "declared", "seconds", figure.part or "marked"])
    for row in rows:
        for one in row.counted if row.key != ALL else ():  # it repeats the others
            declared = timezone.localtime(one.history.declared_at).isoformat(timespec="seconds")
            time = "" if one.seconds is None else round(one.seconds)
            marked = ("yes" if one.marked else "no") if figure.part else ""
            writer.writerow([harmless(cell) for cell in (row.label, one.history.codename, declared, time, marked)])
    return response


def looks() -> Types:
    """Return every type's name and colour, in their order; archived ones too, because incidents had them."""
    rows = IncidentType.objects.select_related("current").order_by("position", "slug")
    return {one.slug: TypeLook(one.slug, one.policy.name, one.policy.colour) for one in rows}


def _read(filters: InsightFilters, person: Person, needs: tuple[str, ...]) -> list[IncidentHistory]:
    return histories.read(filters.incidents(person), *needs, known=filters.known(person))


def _figure(slug: str) -> InsightFigure:
    if slug not in FIGURES:
        raise Http404("No such figure.")
    return FIGURES[slug]


def _drawn(figure: InsightFigure, rows: list[FigureRow], types: Types) -> FigureView:
    drawn: Any = None
    if figure.shape == TIMES:
        drawn = strip.chart(rows)
    elif figure.shape == FLOW:
        drawn = flow.chart(rows, types)
    elif figure.shape == MATRIX:
        drawn = matrix.chart(rows, types)
    return FigureView(figure, rows, drawn)


def _context(filters: InsightFilters, chapter: InsightChapter, types: Types) -> dict[str, Any]:
    return {
        "here": "insights",
        "filters": filters,
        "query": filters.query,
        "chapter": chapter,
        "chapters": CHAPTERS.values(),
        "types": types.values(),
        "sandbox": bool(settings.FIREKIND.sandbox_url),
        "counts": COUNTS,
    }
