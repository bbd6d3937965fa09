"""Rate limits on sign-in attempts, counted in the database across all processes.

A try is counted before it is looked at, so that many at once are no way around it. No limit lasts long, and a browser
that has signed in before has a count of its own: guessing at a name from elsewhere locks nobody out.
"""

from __future__ import annotations

import hashlib
import ipaddress
import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from integrations.identity.models import Tries

KEPT = timedelta(hours=1)
NETWORK_BITS = 64


@dataclass(frozen=True, slots=True)
class TryLimit:
    """So many tries within so many seconds of the first."""

    name: str
    most: int
    within_s: int


# From one address to one account, from one address to any, from anywhere to one account, from a browser known there.
PAIR, PLACE = TryLimit("pair", 5, 60), TryLimit("place", 50, 300)
ACCOUNT, KNOWN = TryLimit("account", 20, 60), TryLimit("known", 10, 60)
# Codes and passwords of someone half or wholly signed in; how often a provider is asked for one address.
CODE, AGAIN, BEGIN = TryLimit("code", 5, 300), TryLimit("again", 5, 60), TryLimit("begin", 30, 60)
REUSE = TryLimit("reuse", 1, 120)  # a code that was used is not taken twice


def take(counted: dict[TryLimit, str], *, at: datetime | None = None) -> int:
    """Count one try for each subject in turn; return 0, or the seconds to wait when it is one too many for one.

    What comes after that one is not counted: a person blocked at their own address uses up no one's account.
    """
    now = at or timezone.now()
    with transaction.atomic():
        return next((wait_s for limit, subject in counted.items() if (wait_s := _one(limit, subject, now))), 0)


def place(address: str) -> str:
    """Return what tries are counted by: an address of IPv4, the /64 of IPv6, all of which one customer has."""
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
    Tries.objects.filter(until__lt=timezone.now() - KEPT).delete()


def _one(limit: TryLimit, subject: str, now: datetime) -> int:
    until = now + timedelta(seconds=limit.within_s)
    row, _ = Tries.objects.select_for_update(no_key=True).get_or_create(
        key=_key(limit, subject), defaults={"until": until}
    )
    if row.until <= now:
        row.count, row.until = 0, until
    if row.count >= limit.most:
        return max(1, math.ceil((row.until - now).total_seconds()))
    row.count += 1
    row.save(update_fields=["count", "until"])
    return 0


def _key(limit: TryLimit, subject: str) -> str:
    return hashlib.sha256(f"{limit.name}|{subject}".encode()).hexdigest()
