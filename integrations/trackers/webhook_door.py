"""The one endpoint for the issue tracker: a webhook only says which ticket to look at.

Nothing of it is stored. Changes whose webhook is lost are found by the look that is taken once a minute.
"""

from __future__ import annotations

import re
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from incidents.outages import database_watch, hint_sender
from integrations.trackers.protocol import setup, webhooks
from integrations.trackers.protocol.setup import Setup
from workflows import tasks
from workflows.models import Ticket

LARGEST: Final = 1 << 20  # it contains an issue's text
DIGITS: Final = re.compile(r"[0-9]{1,12}", re.ASCII)


@csrf_exempt  # the tracker signs its requests instead
@require_POST
def webhook(request: HttpRequest) -> HttpResponse:
    """Receive a webhook: 202 for anything signed, whether or not the ticket is one of ours."""
    given = setup.current()
    if given is None or not given.webhook_secrets:
        return _answer(503, "No tracker's webhooks are set up here: set TRACKER and TRACKER_WEBHOOK_SECRETS.")
    length = request.headers.get("Content-Length", "")
    if not DIGITS.fullmatch(length):
        return _answer(411, "The Content-Length is missing.")
    if int(length) > LARGEST:
        return _answer(413, "This is larger than any webhook about a ticket.")
    if not webhooks.is_from(given.kind, request.body, request.headers, secrets=given.webhook_secrets):
        return _answer(403, "The signature does not match any configured secret.")
    found = webhooks.about(given.kind, request.body, at=timezone.now())
    if found is not None:
        _hint(given, *found)
    return _answer(202, "Taken.")


def _hint(given: Setup, place: str, ref: str) -> None:
    """Ask for a look at one of our tickets, under the project's name as settings write it, whatever its capitals.

    https://docs.github.com/en/rest/repos/repos: the names of owner and repository are not case sensitive.
    """
    as_set = (f"{given.kind}:{one}" for one in (given.project, given.private_project) if one)
    place = next((one for one in as_set if one.casefold() == place.casefold()), place)
    try:
        ticket_id = Ticket.objects.filter(place=place, ref=ref).values_list("pk", flat=True).first()
    except database_watch.FAILURES:
        return  # the next look finds it
    if ticket_id is not None:
        hint_sender.send(tasks.look_at_ticket, ticket_id, fresh_s=tasks.FRESH_S)


def _answer(status: int, says: str) -> HttpResponse:
    return HttpResponse(f"{says}\n", status=status, content_type="text/plain; charset=utf-8")
