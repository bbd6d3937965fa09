"""Ask PagerDuty how an alert stands now, of which webhooks tell late."""

from __future__ import annotations

import logging

from workflows import ports
from workflows.alerts import poll_alerts
from workflows.oncall.pager_events import PagerEvent
from workflows.ports import VendorError

log = logging.getLogger(__name__)


class AlertNow:
    """Asks about one alert after the other; once that was not answered, about no more: a backlog does not wait."""

    def __init__(self) -> None:
        self._is_away = False

    def ask(self, id: str) -> PagerEvent | None:
        """Return the status that an alert has now as news of it; None where nobody says."""
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
