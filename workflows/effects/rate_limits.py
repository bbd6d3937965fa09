"""Methods that a vendor asked us not to call for a while. No process calls them until then."""

from __future__ import annotations

from datetime import datetime

from incidents.claiming.shared_clock import clock
from workflows.models import Limit

_blocked: dict[str, datetime] = {}  # as far as this process knows


def blocked_until(method: str, *, at: datetime) -> datetime | None:
    """Return until when this process knows a method to be blocked; the claim checks the database for the rest."""
    until = _blocked.get(method)
    return until if until is not None and until > clock.at(at) else None


def waits_until(method: str, *, at: datetime) -> datetime | None:
    """Return until when any process knows a method to be blocked, if that is later than ``at``."""
    limits = Limit.objects.filter(method=method, blocked_until__gt=clock.at(at))
    return limits.values_list("blocked_until", flat=True).order_by("-blocked_until").first()


def block(port: str, called: str, method: str, *, until: datetime) -> None:
    """Block the method that was called, and the effect's method if that stands for several calls."""
    methods = {called, method} if port in {"pager", "tracker"} else {called}
    _blocked.update(dict.fromkeys(methods, until))
    Limit.objects.bulk_create(
        [Limit(vendor=port, method=one, blocked_until=until) for one in sorted(methods)],
        update_conflicts=True,
        unique_fields=["vendor", "method"],
        update_fields=["blocked_until"],
    )
