"""The one endpoint for PagerDuty. A webhook is stored and acknowledged, then processed.

The answer decides what PagerDuty does next (https://developer.pagerduty.com/docs/webhooks-behavior): 2xx within five
seconds is accepted, 5xx and 429 are sent again for two days, any other 4xx drops the webhook, and three drops in a row
disable the subscription for a day. So only a request that is not PagerDuty's gets a 4xx, whatever else goes wrong.
"""

from __future__ import annotations

import logging
import re
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from incidents.outages import database_watch, outage_answer
from integrations.pagerduty import tasks
from integrations.pagerduty.protocol import signature
from integrations.pagerduty.webhooks import inbox

log = logging.getLogger(__name__)

LARGEST: Final = 256 * 1024  # PagerDuty drops larger ones itself, so this is not PagerDuty's
DIGITS: Final = re.compile(r"[0-9]{1,12}", re.ASCII)
AGAIN_S: Final = "60"


@csrf_exempt  # PagerDuty signs its requests instead
@require_POST
def webhook(request: HttpRequest) -> HttpResponse:
    """Receive a webhook: 202 once it is stored, 200 when it already was, 503 while it cannot be stored."""
    given = settings.FIREKIND.pagerduty
    if given is None or not given.webhook_secrets:
        return _later("PagerDuty's webhooks are not set up here: set PAGERDUTY_API_KEY and PAGERDUTY_WEBHOOK_SECRETS.")
    length = request.headers.get("Content-Length", "")
    if not DIGITS.fullmatch(length):
        return _answer(411, "The Content-Length is missing.")
    if int(length) > LARGEST:
        return _answer(413, "This is larger than any webhook from PagerDuty.")
    if not signature.is_signed(
        request.body, request.headers.get("X-PagerDuty-Signature", ""), secrets=given.webhook_secrets
    ):
        return _answer(403, "The signature does not match any configured secret.")
    return _store(request)


def _store(request: HttpRequest) -> HttpResponse:
    try:
        stored = inbox.store(request.body, key=request.headers.get("X-Webhook-Id", ""), at=timezone.now())
    except database_watch.FAILURES as error:
        log.warning("could not store a webhook: %s", type(error).__name__)
        return outage_answer.unlogged(_later("This could not be stored. Send it again."))
    if stored is None:
        return _answer(200, "Already received.")
    if stored.waits:
        tasks.hint(stored.number)
    return _answer(202, "Stored.")


def _later(says: str) -> HttpResponse:
    """Answer 503, so that PagerDuty retries, which it does for two days."""
    answer = _answer(503, says)
    answer["Retry-After"] = AGAIN_S
    return answer


def _answer(status: int, says: str) -> HttpResponse:
    return HttpResponse(f"{says}\n", status=status, content_type="text/plain; charset=utf-8")
