"""Ask PagerDuty for the current status of an alert whose webhooks arrived late."""

from __future__ import annotations

import logging

from workflows import ports
from workflows.alerts import poll_alerts
from workflows.oncall.pager_events import PagerEvent
from workflows.ports import VendorError

log = logging.getLogger(__name__)


class AlertNow:
    """Asks about alerts one by one until PagerDuty does not answer, so that a backlog does not wait for it."""

    def __init__(self) -> None:
        self._is_away = False

    def ask(self, id: str) -> PagerEvent | None:
        """Return an alert's current status as news of it; None when it cannot be read."""
        pager = ports.pager()
        if pager is None or self._is_away:
            return None
        try:
            found = pager.look(id)
        except VendorError as error:
            log.warning("could not ask how alert %s stands: %s", id, error)
            self._is_away = True
            return None
        return poll_alerts.as_news(id, found)
