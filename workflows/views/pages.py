"""Who was paged for an incident and their status, and paging someone: who would be paged is shown first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django import forms
from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect

from incidents import lifecycle
from incidents.forms.given import number
from incidents.models import Incident
from incidents.views import panels
from incidents.views.act import done
from incidents.views.lists import unanswered
from incidents.views.panels import PanelState
from incidents.views.signed_in import Request, incident_or_404, signed_in
from workflows import ports
from workflows.paging import acknowledging, paging
from workflows.paging.paging import PageChoice
from workflows.status import page_status
from workflows.status.waiting_pages import WaitingPage

UNPROCESSABLE = 422
unanswered.register(page_status.unanswered)


class ReachedBy(NamedTuple):
    """A page that waits for someone, and whether it pages them *now* or did *before*.

    ``asked`` says who is acknowledging it (*you*, or a name), ``can_acknowledge`` whether they can from here.
    """

    how: str
    page: WaitingPage
    asked: str = ""
    can_acknowledge: bool = False


class PageForm(forms.Form):
    """Who to page and why. ``shown`` is a digest of who the page said would be paged.

    ``since`` is the last event number when it was opened.
    """

    target = forms.ChoiceField(
        label="Who?",
        error_messages={"required": "Choose who to page."},
        widget=forms.Select(attrs={"aria-describedby": "rung"}),
    )
    because = forms.CharField(
        label="Why?", required=False, max_length=2000, widget=forms.Textarea(attrs={"rows": 2, "data-send": ""})
    )
    shown = forms.CharField(required=False, widget=forms.HiddenInput)
    since = forms.IntegerField(required=False, min_value=0, widget=forms.HiddenInput)

    def __init__(self, data: QueryDict | None = None, *, last_n: int, among: Sequence[PageChoice] = ()) -> None:
        super().__init__(data, label_suffix="")
        self.seen = number(self.data.get("since"))
        self.seen = last_n if self.seen is None else self.seen
        self.among = {one.target: one for one in among}
        groups = [
            (label, [(one.target, _offer(one)) for one in some]) for label, some in page_status.grouped(among).items()
        ]
        choices: list[object] = [("", "Choose who to page"), *groups]
        self.fields["target"].choices = choices  # type: ignore[attr-defined]  # a ChoiceField, as declared above

    @property
    def choice(self) -> PageChoice | None:
        """The target chosen so far."""
        return self.among.get(self.data.get("target", ""))

    @property
    def token(self) -> str:
        """A digest of who is shown as being paged; it is sent back with the confirmation."""
        return f"{self.choice.target} {page_status.digest(self.choice)}" if self.choice else ""

    @property
    def is_shown(self) -> bool:
        """Whether who would be paged was shown before this was sent."""
        return bool(self.token) and self.data.get("shown") == self.token

    @property
    def is_changed(self) -> bool:
        """Whether the same target would now page others than were shown."""
        return str(self.data.get("shown", "")).startswith(f"{self.data.get('target')} ") and not self.is_shown

    def run(self, incident: Incident, request: Request) -> str:
        """Request the page; return what will be done in words, or nothing if it is refused."""
        if not (self.is_valid() and self.is_shown):
            return ""
        given = self.cleaned_data
        try:
            return paging.ask(
                incident,
                target=given["target"],
                because=given["because"],
                by=request.person,
                at=timezone.now(),
                since=given["since"],
            )
        except lifecycle.BadInput as bad:
            self.add_error(bad.field if bad.field in self.fields else None, str(bad))
        except lifecycle.Stale as stale:
            self.seen = max(event.n for event in stale.changes)
            self.add_error(None, str(stale))
        except lifecycle.Refused as refused:
            self.add_error(None, str(refused))
        return ""


@require_http_methods(["GET", "POST"])
@signed_in
def pages(request: Request, codename: str) -> HttpResponse:
    """Show who was paged and their status; page someone after showing who that reaches."""
    incident = incident_or_404(request.person, codename)
    can_page = _can_page(request, incident)
    if request.method == "POST":
        return _asked(request, incident, _form(request, incident) if can_page else None)
    digest, context = state(request, incident, page_status.of(incident))
    if request.htmx and request.GET.get("seen") == digest:
        return HttpResponse(status=204)
    part = "#dialog" if request.htmx.target == "dialog" else "#panel" if request.htmx else ""
    form = _form(request, incident) if can_page and part != "#panel" else None
    return _render(request, incident, form, part, {**context, "digest": digest})


def _can_page(request: Request, incident: Incident) -> bool:
    connected = ports.pager() is not None and not incident.is_drill
    return connected and incident.is_active and request.person.can_join


def state(request: Request, incident: Incident, now: page_status.Pages) -> PanelState:
    """Return what the panel of pages shows about their current state."""
    can_page = _can_page(request, incident)
    mine = _reached(now, request.person.pk, is_active=incident.is_active)
    context = {"pages": now, "can_page": can_page, "connected": ports.pager() is not None, "mine": mine}
    return PanelState(panels.digest_of((now, can_page, mine)), context)


def _reached(now: page_status.Pages, person_id: int, *, is_active: bool) -> list[ReachedBy]:
    """Return the unacknowledged pages that reached someone, those that page them now first."""
    found = [
        ReachedBy(
            "now" if person_id in one.now else "before",
            one,
            one.asked_for(person_id),
            is_active and ports.pager() is not None and one.may_acknowledge(person_id),
        )
        for one in now.of_person(person_id)
    ]
    return sorted(found, key=lambda one: one.how != "now")


@require_POST
@signed_in
def acknowledge(request: Request, codename: str, page: int) -> HttpResponse:
    """Acknowledge a page in the name of the person asking."""
    incident = incident_or_404(request.person, codename)
    to = incident.get_absolute_url()
    try:
        reply = acknowledging.ask(incident, page=page, by=request.person, at=timezone.now())
    except lifecycle.Refused as refused:
        return done(request, str(refused), to=to, is_done=False)
    return done(request, reply.says, to=to)


def _form(request: Request, incident: Incident) -> PageForm:
    data = request.POST if request.method == "POST" else None
    return PageForm(data, last_n=incident.last_n, among=paging.choices(incident))


def _asked(request: Request, incident: Incident, form: PageForm | None) -> HttpResponse:
    """Page the target that was shown, else show who would be paged. Without a form, this person cannot page."""
    if form is None:
        messages.error(request, "No one can be paged for this incident right now.")
        return redirect("pages", codename=incident.codename)
    looking = "look" in request.POST
    said = "" if looking else form.run(incident, request)
    if said:
        return _done(request, f"Requested: {said}.", here=reverse("pages", args=[incident.codename]))
    wrong = bool(form.errors) and not looking
    context = {"looking": looking, "changed": form.is_changed and not wrong, "pages": page_status.of(incident)}
    part = "#form" if request.htmx else ""
    return _render(request, incident, form, part, context, status=UNPROCESSABLE if wrong else 200)


def _done(request: Request, said: str, *, here: str) -> HttpResponse:
    """Respond that it is requested: the dialog closes, and the standalone page reloads."""
    if request.htmx and request.htmx.current_url_abs_path == here:
        messages.success(request, said)
        return HttpResponseClientRedirect(here)
    return done(request, said, to=here)


def _render(
    request: Request, incident: Incident, form: PageForm | None, part: str, more: dict[str, object], status: int = 200
) -> HttpResponse:
    context = {"incident": incident, "form": form, "connected": ports.pager() is not None}
    return render(request, f"workflows/pages.html{part}", context | more, status=status)


def _offer(choice: PageChoice) -> str:
    """Name the targets that can be paged, with who that is now."""
    about = f"already paged, {choice.state}" if choice.state else choice.rings
    return f"{choice.name} ({about})" if about else choice.name
