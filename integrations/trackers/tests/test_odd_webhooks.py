"""A signed webhook with any content is accepted, because trackers disable webhooks that answer with an error."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import replace
from typing import Any, Final

import pytest
from django.conf import LazySettings
from django.test import Client
from django.utils import timezone

from incidents.tests.oddities import LEFT_OUT, places, with_odd
from integrations.trackers.protocol import webhooks
from integrations.trackers.tests.board import TrackerSetup

SECRET: Final = "s3cret-of-webhooks"
ODD: Final[tuple[Any, ...]] = (
    *(None, LEFT_OUT, 5, 10**400, "", "\0", "a\0", "\ud800", "U" * 5000, [], {}, True, -1.5e300, float("inf")),
    float("nan"),
)
WHOLE: Final[dict[str, Any]] = {
    "github": {"repository": {"full_name": "acme/ops"}, "issue": {"number": 7}},
    "gitlab": {"project": {"path_with_namespace": "acme/ops"}, "object_attributes": {"iid": 7}},
    "jira": {"issue": {"id": "10007", "fields": {"project": {"key": "OPS"}}}},
    "linear": {"data": {"id": "uuid", "team": {"key": "OPS"}}, "webhookTimestamp": 0},
}
NO_EVENT: Final = (b" ", b"\xff", b"{", b"[]", b"null", b"5", b"[" * 100_000, b'{"a":' * 50_000, b"1" * 5000)


def _headers(body: bytes) -> dict[str, str]:
    signed = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    hubs = dict.fromkeys(("X-Hub-Signature-256", "X-Hub-Signature"), f"sha256={signed}")
    return {**hubs, "X-Gitlab-Token": SECRET, "Linear-Signature": signed}


@pytest.mark.django_db
@pytest.mark.parametrize("kind", webhooks.RULES)
def test_every_oddity_that_is_signed_is_taken(kind: str, settings: LazySettings) -> None:
    setup = replace(TrackerSetup(kind, "acme/ops", "acme/private"), webhook_secrets=(SECRET,))
    settings.FIREKIND = replace(settings.FIREKIND, tracker=setup)  # type: ignore[arg-type]  # a Setup as well
    whole = {**WHOLE[kind], **({"webhookTimestamp": timezone.now().timestamp() * 1000} if kind == "linear" else {})}
    odd = [json.dumps(with_odd(whole, at, one)).encode() for at in places(whole) for one in ODD]
    failed = []
    for body in [json.dumps(whole).encode(), *odd, *NO_EVENT]:
        client = Client(raise_request_exception=False)
        answer = client.post("/tracker/webhook", body, content_type="application/json", headers=_headers(body))
        if answer.status_code != 202:
            failed.append((body[:80], answer.status_code))
    assert not failed
