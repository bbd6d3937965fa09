"""Verify a webhook and find out which ticket it is about; nothing else in it is trusted or stored.

The ticket is then read from the tracker itself, so lost, repeated or late webhooks change nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import parse_qs

Headers = Mapping[str, str]
FORM: Final = b"payload="
FRESH_S: Final = 60.0  # Linear signs a time that is in the body: https://linear.app/developers/webhooks


@dataclass(frozen=True, slots=True)
class WebhookRules:
    """How to verify and read one tracker's webhooks; ``about`` returns the project and the ticket's ref."""

    is_signed: Callable[[bytes, Headers, str], bool]
    about: Callable[[Mapping[str, Any]], tuple[str, str]]


def is_from(kind: str, body: bytes, headers: Headers, *, secrets: tuple[str, ...]) -> bool:
    """Return whether a tracker with one of these secrets sent this."""
    fits = [RULES[kind].is_signed(body, headers, secret) for secret in secrets]  # takes the same time whichever matches
    return any(fits)


def about(kind: str, body: bytes, *, at: datetime) -> tuple[str, str] | None:
    """Return the project and ref of a webhook's ticket; None for a webhook about anything else."""
    try:
        said = json.loads(_payload(body) if kind == "github" else body)
        project, ref = RULES[kind].about(said)
        if kind == "linear" and not abs(at.timestamp() - said["webhookTimestamp"] / 1000) <= FRESH_S:
            return None
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError):
        return None
    place = f"{kind}:{project}"
    return (place, ref) if f"{place}{ref}".isprintable() else None  # the database may refuse others


def _payload(body: bytes) -> str | bytes:
    """Return the JSON of a webhook that may be a form, which is GitHub's default.

    https://docs.github.com/en/webhooks/using-webhooks/creating-webhooks
    """
    return parse_qs(body.decode("ascii"), max_num_fields=1)["payload"][0] if body.startswith(FORM) else body


def _hub(header: str) -> Callable[[bytes, Headers, str], bool]:
    def is_signed(body: bytes, headers: Headers, secret: str) -> bool:
        return _equal(headers.get(header, ""), f"sha256={_digest(body, secret)}")

    return is_signed


def _token(body: bytes, headers: Headers, secret: str) -> bool:
    return _equal(headers.get("X-Gitlab-Token", ""), secret)


def _linear(body: bytes, headers: Headers, secret: str) -> bool:
    return _equal(headers.get("Linear-Signature", ""), _digest(body, secret))


def _digest(body: bytes, secret: str) -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def _equal(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _github(said: Mapping[str, Any]) -> tuple[str, str]:
    return str(said["repository"]["full_name"]), str(said["issue"]["number"])


def _gitlab(said: Mapping[str, Any]) -> tuple[str, str]:
    return str(said["project"]["path_with_namespace"]), str(said["object_attributes"]["iid"])


def _jira(said: Mapping[str, Any]) -> tuple[str, str]:
    return str(said["issue"]["fields"]["project"]["key"]), str(said["issue"]["id"])


def _of_team(said: Mapping[str, Any]) -> tuple[str, str]:
    return str(said["data"]["team"]["key"]), str(said["data"]["id"])


RULES: Final[Mapping[str, WebhookRules]] = {
    # https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
    "github": WebhookRules(_hub("X-Hub-Signature-256"), _github),
    # https://docs.gitlab.com/user/project/integrations/webhooks/
    "gitlab": WebhookRules(_token, _gitlab),
    # https://developer.atlassian.com/cloud/jira/platform/webhooks/#secure-admin-webhooks
    "jira": WebhookRules(_hub("X-Hub-Signature"), _jira),
    "linear": WebhookRules(_linear, _of_team),
}
