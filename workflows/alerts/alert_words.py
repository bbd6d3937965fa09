"""What the timeline says about alerts: the first of a storm, how many have arrived, and whether it is over."""

from __future__ import annotations

from datetime import datetime

from incidents import lifecycle
from incidents.models import Incident, Source
from workflows.models import Alert


def first(incident: Incident, alert: Alert, *, declared: bool, at: datetime) -> None:
    """Write the entry for the alert that started it; it is also posted in the channel."""
    about = ", ".join(filter(None, (alert.service, alert.priority)))
    came = f"Alert from {about}: {alert.title}" if about else f"Alert: {alert.title}"
    why = f" (declared by the rule “{alert.rule}”)" if declared else ""
    _write(incident, came + why, happened_at=alert.at, at=at, link=alert.url, data={"title": alert.title})


def count(incident: Incident, alert: Alert, *, count: int, at: datetime) -> None:
    """Write how large the storm has become; this entry is not posted in the channel."""
    last = f", the latest from {alert.service}" if alert.service else ""
    _write(incident, f"{count:,} alerts so far{last}", happened_at=alert.at, at=at, data={"room": 0, "count": count})


def ask(incident: Incident, *, count: int, elsewhere: bool, ended_at: datetime, at: datetime) -> None:
    """Ask in the channel whether it is over, now that every alert has ended or continues ``elsewhere``."""
    said = f"All {count:,} alerts are resolved" if count > 1 else "The alert is resolved"
    text = f"{said} in PagerDuty. Is the incident over?"
    if elsewhere:
        said = f"All {count:,} alerts are resolved or were" if count > 1 else "The alert was"
        text = f"{said} merged into another PagerDuty incident. Is this incident over, or a duplicate?"
    _write(incident, text, happened_at=ended_at, at=at, data={"ask": "resolve"})


def _write(
    incident: Incident,
    text: str,
    *,
    happened_at: datetime,
    at: datetime,
    link: str = "",
    data: dict[str, object] | None = None,
) -> None:
    lifecycle.remark(
        incident,
        "alert",
        by=None,
        at=happened_at,
        recorded_at=at,
        source=Source.SYSTEM,
        text=text,
        data=data,
        link=link,
    )
