"""Publish the chain's newest hash where the database's owner cannot write, so that a truncated chain is noticed."""

from __future__ import annotations

import json
import logging
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
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


class NotPublished(Exception):
    """A place did not take the head; says which setting names it, and why."""


Publisher = Callable[[Head], None]
publishers: list[Publisher] = []  # registered at start by code that reaches somewhere else


def newest() -> Head | None:
    """Return the newest link, or None before anything is sealed."""
    last = Seal.objects.order_by("-n").only("n", "at", "hash").first()
    return Head(last.n, last.at, last.hash) if last else None


def publish(*, at: datetime, webhook: str = "") -> Head | None:
    """Write the head to the log and send it to every place that keeps it; return it, or None if it is an old one.

    ``at`` is the database's time, as links have it: by a host's clock that is ahead, every head would be an old one.
    A place that does not take it is named in the log, and keeps no other from its turn, even if its publisher has a
    fault, which is raised once all were tried. The next head follows in a quarter of an hour.
    """
    head = newest()
    if head is None or head.at < at - NEWS:
        return None
    log.info("audit head %s", head)
    places: list[Publisher] = [*([partial(_send, webhook=webhook)] if webhook else []), *publishers]
    with ExitStack() as turns:  # each has its turn, whatever another one raises
        for publisher in reversed(places):
            turns.callback(_try, publisher, head)
    return head


def _try(publisher: Publisher, head: Head) -> None:
    try:
        publisher(head)
    except NotPublished as error:
        log.warning("the audit head was not published: %s", error)


def _send(head: Head, webhook: str) -> None:
    body = json.dumps({"n": head.n, "at": head.at.isoformat(), "hash": head.hash}).encode()
    asked = urllib.request.Request(webhook, body, {"Content-Type": "application/json"})  # noqa: S310  # the settings take http and https only
    try:
        with urllib.request.build_opener(straight.Straight).open(asked, timeout=PATIENCE_S):
            pass
    except (OSError, HTTPException) as error:
        raise NotPublished(f"{SETTING}: {straight.why(error, setting=SETTING)}") from error
