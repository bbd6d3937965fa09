"""Capture a profile now, and show the progress of running captures."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods
from django_htmx.http import trigger_client_event

from incidents import lifecycle
from incidents.models import Incident
from incidents.policies.policy import COUNTS, MEASURES
from incidents.views.panels import digest_of
from incidents.views.signed_in import Request, incident_or_404, signed_in
from workflows.loading import incident_rows
from workflows.performing import capturing
from workflows.status import progress as progressing

UNPROCESSABLE = 422
SHOWN = ("failed", "running", "waiting")


class CaptureForm(forms.Form):
    """What to capture: a source from the operator's list and one of its kinds, in one choice."""

    what = forms.ChoiceField(label="What")
    seconds = forms.IntegerField(
        label="Seconds",
        required=False,
        min_value=COUNTS["seconds"][0],
        max_value=COUNTS["seconds"][1],
        widget=forms.NumberInput(attrs={"inputmode": "numeric", "placeholder": "Default"}),
    )

    def __init__(self, data: QueryDict | None = None) -> None:
        super().__init__(data, label_suffix="")
        choices = [
            (f"{source.name}/{kind}", f"{MEASURES[kind].name} from {source.name}")
            for source in incident_rows.sources().values()
            for kind in source.kinds
        ]
        self.fields["what"].choices = choices  # type: ignore[attr-defined]  # a ChoiceField, as declared above
        self.any = bool(choices)

    def run(self, incident: Incident, request: Request) -> str:
        """Request the capture; return what will be done, in words."""
        source, _, kind = self.cleaned_data["what"].partition("/")
        seconds = self.cleaned_data["seconds"]
        return capturing.ask(incident, source=source, kind=kind, seconds=seconds, by=request.person, at=timezone.now())


@require_http_methods(["GET", "POST"])
@signed_in
def captures(request: Request, codename: str) -> HttpResponse:
    """Show an incident's captures and a form for another; start it."""
    incident = incident_or_404(request.person, codename)
    form = CaptureForm(request.POST if request.method == "POST" else None)
    said = _asked(form, incident, request) if request.method == "POST" else ""
    under_way = [line for line in progressing.of(incident).effects if _is_shown(line)]
    digest = digest_of(under_way)
    if request.htmx and request.GET.get("seen") == digest:
        return HttpResponse(status=204)
    if said and not request.htmx:
        messages.success(request, f"Requested: {said}.")
        return redirect("captures", codename=incident.codename)
    response = render(
        request,
        "workflows/captures.html" + ("#captures" if request.htmx else ""),
        {
            "incident": incident,
            "form": CaptureForm() if said else form,
            "under_way": under_way,
            "digest": digest,
            "said": said,
        },
        status=UNPROCESSABLE if form.errors else 200,
    )
    if said:
        trigger_client_event(response, "firekind:did", {"said": f"Requested: {said}."})
    return trigger_client_event(response, "firekind:changed", {}) if said or "seen" in request.GET else response


def _asked(form: CaptureForm, incident: Incident, request: Request) -> str:
    if not form.is_valid():
        return ""
    try:
        return form.run(incident, request)
    except lifecycle.BadInput as bad:
        form.add_error(bad.field if bad.field in form.fields else None, str(bad))
    except lifecycle.Refused as refused:
        form.add_error(None, str(refused))
    return ""


def _is_shown(line: progressing.EffectLine) -> bool:
    return line.kind == "capture" and line.state in SHOWN
