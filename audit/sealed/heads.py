"""Publish the chain's newest hash where the database's owner cannot write, so that a truncated chain is noticed."""

from __future__ import annotations

import json
import logging
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from http.client import HTTPException
from typing import Final

from audit import straight
from audit.models import Seal

NEWS: Final = timedelta(hours=1)  # an older head has been published several times
PATIENCE_S: Final = 10.0
SETTING: Final = "AUDIT_HEAD_WEBHOOK"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Head:
    """The newest link of the chain."""

    n: int
    at: datetime
    hash: str

    def __str__(self) -> str:
        return f"{self.n} {self.at.isoformat()} {self.hash}"


publishers: list[Callable[[Head], None]] = []  # registered at start by code that reaches somewhere else


def newest() -> Head | None:
    """Return the newest link, or None before anything is sealed."""
    last = Seal.objects.order_by("-n").only("n", "at", "hash").first()
    return Head(last.n, last.at, last.hash) if last else None


def publish(*, at: datetime, webhook: str = "") -> Head | None:
    """Write the head to the log and send it to every place that keeps it; return it, or None if it is an old one.

    A failing webhook is logged and does not stop the publishers: the next head follows in a quarter of an hour.
    """
    head = newest()
    if head is None or head.at < at - NEWS:
        return None
    log.info("audit head %s", head)
    if webhook:
        _send(head, webhook)
    for publisher in publishers:
        publisher(head)
    return head


def _send(head: Head, webhook: str) -> None:
    body = json.dumps({"n": head.n, "at": head.at.isoformat(), "hash": head.hash}).encode()
    asked = urllib.request.Request(webhook, body, {"Content-Type": "application/json"})  # noqa: S310  # the settings take http and https only
    try:
        with urllib.request.build_opener(straight.Straight).open(asked, timeout=PATIENCE_S):
            pass
    except (OSError, HTTPException) as error:
        log.warning("could not send the audit head: %s", straight.why(error, setting=SETTING))
