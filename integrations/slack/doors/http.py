"""The one endpoint for Slack. Requests that are not from Slack, or are malformed, end here."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import parse_qsl

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from incidents.outages import outage_answer
from integrations.slack.doors import bolt, signing
from integrations.slack.interaction import afterwards
from integrations.slack.interaction.slack_event import Deed
from integrations.slack.listeners.events import messages
from integrations.slack.protocol import payload_validation, setup
from integrations.slack.protocol.setup import Setup

log = logging.getLogger(__name__)

LARGEST: Final = 1024 * 1024
OK: Final = 200
UNAVAILABLE: Final = 503
CHECK: Final = 8 * 1024
CHALLENGE: Final = re.compile(r"[A-Za-z0-9._~+/=-]{1,1000}")
NOT_CONNECTED: Final = "Slack is not connected to this Firekind: set SLACK_BOT_TOKEN and SLACK_SIGNING_SECRET."
DIGITS: Final = re.compile(r"[0-9]{1,12}", re.ASCII)
FINAL: Final = (400, 413)
FORM: Final = "application/x-www-form-urlencoded"


class LateResponse(HttpResponse):
    """An answer with work to do after it is sent (``late``), which the server starts."""

    late: Sequence[Deed] = ()

    @classmethod
    def of(cls, response: HttpResponse, late: Sequence[Deed]) -> LateResponse:
        """Return the same answer, with work to do after it."""
        made = cls(response.content, status=response.status_code, headers=dict(response.items()))
        made.late = late
        return made


@csrf_exempt  # Slack signs its requests instead
@require_POST
def events(request: HttpRequest) -> HttpResponse:
    """Receive a command, an interaction or an event from Slack; refuse everything else without acting on it."""
    given = setup.current()
    length = request.headers.get("Content-Length", "")
    if given is None or not given.signing_secret:
        return _verified_only(request, length) or _no(503, NOT_CONNECTED)
    if not DIGITS.fullmatch(length):
        return _no(411, "The Content-Length is missing.")
    if int(length) > LARGEST:
        return _no(413, "This is larger than any request from Slack.")
    if _is_certificate_check(request):
        return HttpResponse()
    stamp, signature = (request.headers.get(name, "") for name in (signing.STAMP, signing.SIGNATURE))
    if not signing.is_genuine(request.body, stamp=stamp, signature=signature, given=given):
        return _no(401, "The Slack signature is invalid or expired.")
    return _take(request, given)


def _is_certificate_check(request: HttpRequest) -> bool:
    """Return whether this is Slack's occasional unsigned check of our certificate, which asks for nothing.

    docs.slack.dev/interactivity/implementing-slash-commands
    """
    return request.content_type == FORM and request.POST.get("ssl_check") == "1"


def _verified_only(request: HttpRequest, length: str) -> HttpResponse | None:
    """Answer Slack's URL verification while nothing else is accepted yet; None for any other request.

    Slack verifies the URL when the app is created from its manifest, before there is a secret to put into the settings.
    It would not verify again by itself, so no event would ever arrive.
    """
    if not DIGITS.fullmatch(length) or int(length) > CHECK:
        return None
    payload = _read(request)
    if not isinstance(payload, dict) or payload.get("type") != "url_verification":
        return None
    challenge = payload.get("challenge")
    if not isinstance(challenge, str) or not CHALLENGE.fullmatch(challenge):
        return None
    log.warning("Slack verified the address /slack/events. %s", NOT_CONNECTED)
    return JsonResponse({"challenge": challenge})


def _take(request: HttpRequest, given: Setup) -> HttpResponse:
    payload = _read(request)
    if not isinstance(payload, dict):
        return _no(400, "This request could not be read.")
    if messages.is_talk(payload):
        return HttpResponse()
    if not payload_validation.fits(payload):
        return _acknowledged(payload)
    if not payload_validation.is_known(payload):
        return HttpResponse()
    with afterwards.collected() as late:
        response = bolt.handler(given).handle(request)
    if response.status_code == UNAVAILABLE:
        return outage_answer.unlogged(response)
    return LateResponse.of(response, late) if late and response.status_code == OK else response


def _acknowledged(payload: dict[str, Any]) -> HttpResponse:
    """Acknowledge a signed payload of an unknown shape, because Slack would only send it again."""
    log.warning("received a Slack payload of an unknown shape; nothing was done")
    said = bolt.excuse(payload)
    return JsonResponse(said) if said else HttpResponse()


def _read(request: HttpRequest) -> Any:
    """Parse the request; None unless it is UTF-8 and valid, not too deeply nested JSON."""
    try:
        return _payload(request.body.decode("utf-8"), request.content_type or "")
    except (ValueError, RecursionError):
        return None


def _payload(said: str, content_type: str) -> Any:
    """Parse a body the way Bolt does."""
    if content_type == "application/json" or said.startswith("{"):
        return json.loads(said)
    form = dict(parse_qsl(said, keep_blank_values=True))
    return json.loads(form["payload"]) if "payload" in form else form


def _no(status: int, says: str) -> HttpResponse:
    response = HttpResponse(f"{says}\n", status=status, content_type="text/plain; charset=utf-8")
    if status in FINAL:
        response["X-Slack-No-Retry"] = "1"  # the same bytes would be refused again
    return response
