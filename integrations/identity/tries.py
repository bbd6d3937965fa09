"""Rate limits on sign-in attempts, counted in the database across all processes.

A try is counted before it is checked, so sending many at once does not get around a limit. No limit lasts long, and a
browser that has signed in before has its own count, so guessing from elsewhere does not lock anyone out. Counts end by
the database's clock, because hosts whose clocks differ would each begin them again.
"""

from __future__ import annotations

import hashlib
import ipaddress
import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from incidents.claiming.shared_clock import clock
from integrations.identity.models import Tries

KEPT = timedelta(hours=1)
NETWORK_BITS = 64
SKEW = timedelta(seconds=2)  # by which hosts may still differ


@dataclass(frozen=True, slots=True)
class TryLimit:
    """At most ``most`` tries within ``within_s`` seconds of the first."""

    name: str
    most: int
    within_s: int


# Per client address and account; per client address; per account; per account in a browser that it has used before.
PAIR, PLACE = TryLimit("pair", 5, 60), TryLimit("place", 50, 300)
ACCOUNT, KNOWN = TryLimit("account", 20, 60), TryLimit("known", 10, 60)
# Codes of someone half or fully signed in; passwords of someone signed in; visits to a provider per client address.
CODE, AGAIN, BEGIN = TryLimit("code", 5, 300), TryLimit("again", 5, 60), TryLimit("begin", 30, 60)
REUSE = TryLimit("reuse", 1, 120)  # a code is accepted only once


def take(counted: dict[TryLimit, str], *, at: datetime | None = None) -> int:
    """Count one try against each limit in turn; return 0, or the seconds to wait for the first limit that it exceeds.

    Limits after that one are not counted, so a person blocked at their own address uses up no one's account.
    """
    now = clock.at(at or timezone.now())
    with transaction.atomic():
        return next((wait_s for limit, subject in counted.items() if (wait_s := _one(limit, subject, now))), 0)


def place(address: str) -> str:
    """Return the network to count tries by: an IPv4 address, or the /64 of an IPv6 address, which one customer owns."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return address
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((int(found), NETWORK_BITS), strict=False))


def clear(counted: dict[TryLimit, str]) -> None:
    """Reset the count: the sign-in succeeded."""
    Tries.objects.filter(key__in=[_key(limit, subject) for limit, subject in counted.items()]).delete()


def wait(seconds: int) -> str:
    """Say when to try again."""
    if seconds <= 90:
        return f"{seconds} seconds" if seconds != 1 else "a second"
    return f"{math.ceil(seconds / 60)} minutes"


def forget_old() -> None:
    """Delete counts that have expired."""
    Tries.objects.filter(until__lt=clock.at(timezone.now()) - KEPT).delete()


def _one(limit: TryLimit, subject: str, now: datetime) -> int:
    until = now + timedelta(seconds=limit.within_s)
    row, _ = Tries.objects.select_for_update(no_key=True).get_or_create(
        key=_key(limit, subject), defaults={"until": until}
    )
    if not now < row.until <= until + SKEW:  # over, or further away than it can be: the clock was ahead
        row.count, row.until = 0, until
    if row.count >= limit.most:
        return max(1, math.ceil((row.until - now).total_seconds()))
    row.count += 1
    row.save(update_fields=["count", "until"])
    return 0


def _key(limit: TryLimit, subject: str) -> str:
    return hashlib.sha256(f"{limit.name}|{subject}".encode()).hexdigest()
