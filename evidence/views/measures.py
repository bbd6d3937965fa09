"""Pages of measurements that are not profiles: benchmarks, load tests, counts, sweeps; alone, and side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.http import content_disposition_header

from evidence import measures
from evidence.models import Evidence
from evidence.models.evidence import Kind, State
from evidence.views import leaving, measured
from evidence.views.profile.compared import MOST, listed
from incidents.forms.given import numbers
from incidents.views.signed_in import Request, incident_or_404

if TYPE_CHECKING:
    from evidence.measures.benchmarks.gobench import Benchmarks

Context = dict[str, Any]
OTHERS = 40


def page(request: Request, evidence: Evidence) -> HttpResponse:
    """Show one benchmark, load test, table of counts or sweep; with ``csv`` in the URL, send its numbers as CSV."""
    value = value_of(evidence)
    if "csv" in request.GET:
        leaving.taken(evidence, by=request.person, form="csv")
        return _csv(evidence, measured.CSV[evidence.kind](value))
    context: Context = {"may_withdraw": evidence.is_withdrawable_by(request.person)}
    context |= _about(evidence) | measured.BODY[evidence.kind](request, value)
    alike = Evidence.objects.filter(incident=evidence.incident, kind=evidence.kind, state=State.READY)
    if evidence.kind == Kind.SWEEP:  # maps with different axes cannot be shown side by side
        alike = alike.filter(summary__measured__axes=value.axes)
    context["others"] = alike.exclude(pk=evidence.pk).order_by("-n")[:OTHERS]
    return render(request, "evidence/measures/page.html", context)


def asked(request: Request, codename: str) -> list[Evidence]:
    """Return the measurements that the URL compares, the control first; empty if they are profiles.

    Raises Http404 for those that do not exist or may not be seen.
    """
    incident = incident_or_404(request.person, codename)
    wanted = numbers([request.GET.get("control", ""), *listed(request)])
    ready = Evidence.objects.filter(incident=incident, kind__in=COMPARED, state=State.READY)
    found = {one.n: one for one in ready.filter(n__in=wanted).select_related("added_by")}
    for one in found.values():
        one.incident = incident
    leaving.looked_at(found.values(), by=request.person)
    return [found[n] for n in list(dict.fromkeys(wanted))[:MOST] if n in found] if len(found) > 1 else []


def compare(request: Request, evidences: Sequence[Evidence]) -> HttpResponse:
    """Show several measurements of one kind side by side; the first one is the control."""
    context = compare_context(request, evidences)
    return render(request, "evidence/measures/compare.html", context)


def compare_context(request: Request, evidences: Sequence[Evidence]) -> Context:
    """Return what a comparison shows. Raises Http404 for measurements of different kinds."""
    control = evidences[0]
    if len({one.kind for one in evidences}) != 1 or control.kind not in COMPARED:
        raise Http404("These can't be compared.")
    context = {
        "incident": control.incident,
        "policy": control.incident.policy,
        "control": control,
        "evidences": list(evidences),
        "sides": [(one, _controlled_by(one, evidences)) for one in evidences],
        "kind": control.kind,
    }
    return context | COMPARED[Kind(control.kind)](request, evidences)


def _controlled_by(control: Evidence, evidences: Sequence[Evidence]) -> str:
    """Return the query of the same comparison with another control."""
    others = ",".join(str(one.n) for one in evidences if one.n != control.n)
    return f"?control={control.n}&with={others}"


def value_of(evidence: Evidence) -> Any:
    """Return a measurement as stored. Raises Http404 for a kind that this version does not know."""
    value = measures.reopened(evidence.summary.get("measured", {}))
    if value is None:
        raise Http404("No such measurement.")
    return value


def label_of(evidence: Evidence) -> str:
    """Return a measurement's label among others: its variant, else its phase, else its title."""
    return evidence.variant or (evidence.get_phase_display() if evidence.phase else "") or evidence.title


def _benchmarks(request: Request, evidences: Sequence[Evidence]) -> Context:
    from evidence.measures.benchmarks import gobench, gotable
    from evidence.measures.benchmarks.gobench import Benchmarks

    values = [value_of(one) for one in evidences]
    if not all(isinstance(value, Benchmarks) for value in values):
        apart = [(one, measured.BODY[one.kind](request, value)) for one, value in zip(evidences, values, strict=True)]
        return {"apart": apart}
    columns = [
        gotable.Column(name, column.samples)
        for one, value in zip(_labelled(evidences), values, strict=True)
        for name, column in _columns(one, value)
    ]
    tables = gotable.tables(columns)
    places = {name: value.where for name, value in zip(_labelled(evidences), values, strict=True)}
    said = {"sentence": gotable.sentence_of(tables), "elsewhere": gobench.elsewhere(places)}
    return {"tables": measured.shown(tables), **said}


def _columns(label: str, value: Benchmarks) -> list[tuple[str, Any]]:
    several = len(value.columns) > 1
    return [(f"{label}: {column.label}" if several else label, column) for column in value.columns]


def _loads(request: Request, evidences: Sequence[Evidence]) -> Context:
    runs, labels = [], []
    for name, one in zip(_labelled(evidences), evidences, strict=True):
        found = value_of(one).runs
        runs += found
        labels += [f"{name}: run {i}" for i in range(1, len(found) + 1)] if len(found) > 1 else [name]
    return measured.loads(runs, labels)


def _counts(request: Request, evidences: Sequence[Evidence]) -> Context:
    from evidence.measures import counts

    values = [value_of(one) for one in evidences]
    tables = [value.tables[0] for value in values]
    if len({table.key for table in tables}) > 1:
        raise Http404("These count different things.")
    return {"sentence": counts.compared(values)} | measured.counted_apart(tables, _labelled(evidences))


def _sweeps(request: Request, evidences: Sequence[Evidence]) -> Context:
    values = [value_of(one) for one in evidences]
    return measured.sweeps(request, values, _labelled(evidences))


def _labelled(evidences: Sequence[Evidence]) -> list[str]:
    """Return a label for each, with its number if two labels would be equal."""
    labels = [label_of(one) for one in evidences]
    return [
        f"{label} ({one.n})" if labels.count(label) > 1 else label for label, one in zip(labels, evidences, strict=True)
    ]


COMPARED: dict[str, Callable[[Request, Sequence[Evidence]], Context]] = {
    Kind.BENCHMARK: _benchmarks,
    Kind.LOAD: _loads,
    Kind.COUNTS: _counts,
    Kind.SWEEP: _sweeps,
}


def _about(evidence: Evidence) -> Context:
    return {
        "incident": evidence.incident,
        "policy": evidence.incident.policy,
        "evidence": evidence,
        "kind": evidence.kind,
        "sentence": evidence.says,
    }


def _csv(evidence: Evidence, text: str) -> HttpResponse:
    name = f"{evidence.incident.codename}-{evidence.n}.csv"
    headers = {"Content-Disposition": content_disposition_header(as_attachment=True, filename=name) or ""}
    return HttpResponse(text, content_type="text/csv; charset=utf-8", headers=headers)
