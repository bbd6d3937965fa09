"""Find evidence for a viewer: every view of an incident's evidence begins here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import Http404

from evidence.intake import stored_tree
from evidence.models import Evidence
from evidence.models.evidence import Kind, State
from evidence.views import leaving
from incidents.views.signed_in import Request, incident_or_404

if TYPE_CHECKING:
    from evidence.tree.calltree import CallTree


def evidence_of(request: Request, codename: str, n: int) -> Evidence:
    """Return evidence ``n`` of an incident that this person may see; hidden and absent ones look the same."""
    incident = incident_or_404(request.person, codename)
    found = Evidence.objects.select_related("added_by").filter(incident=incident, n=n).first()
    if found is None or found.state == State.WITHDRAWN:
        raise Http404("No such evidence.")
    found.incident = incident
    leaving.looked_at([found], by=request.person)
    return found


def profile_of(request: Request, codename: str, n: int) -> Evidence:
    """Return evidence that is a profile and was read."""
    found = evidence_of(request, codename, n)
    if found.kind != Kind.PROFILE or not found.tree:
        raise Http404("No such profile.")
    return found


def tree_of(evidence: Evidence) -> CallTree:
    """Open a profile's tree: mapped into memory, whatever its size. Raises ``StorageError``."""
    return stored_tree.opened(evidence.tree)
