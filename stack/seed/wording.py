"""The texts of seeded incidents: composed from lists by a seeded generator, so that every run produces the same."""

from __future__ import annotations

import random

SERVICES = (
    "checkout", "basket", "payments", "search", "catalogue", "login", "sessions", "billing", "invoices", "refunds",
    "shipping", "tracking", "inventory", "pricing", "vouchers", "reviews", "images", "uploads", "mail", "ledger",
)  # fmt: skip
TROUBLES = (
    "is slow", "answers with errors", "times out", "drops connections", "loses messages", "shows stale data",
    "is down in one zone", "leaks memory", "fills its disk", "restarts again and again", "refuses log-ins",
    "charges twice", "has a queue that only grows", "fails its health checks",
)  # fmt: skip
PARTS = ("pod", "node", "replica", "shard", "partition", "queue", "bucket", "cache", "proxy", "certificate", "key")
DOING = (
    "rolled {part} {name} back", "restarted {part} {name}", "drained {part} {name} and watched the error rate",
    "sees {part} {name} at full load", "compared {part} {name} with last week", "asked the vendor about {part} {name}",
    "moved traffic away from {part} {name}", "found nothing wrong with {part} {name}",
    "turned the flag off for {part} {name}", "posted numbers for {part} {name} from the dashboard",
)  # fmt: skip
FIRST = ("Ana", "Ben", "Chloe", "Dan", "Efua", "Femi", "Gus", "Hana", "Ivo", "Jo", "Kai", "Lea", "Max", "Nia", "Omar")
LAST = ("Adler", "Brown", "Costa", "Dahl", "Evans", "Ferrer", "Gray", "Holm", "Ito", "Kaya", "Lund", "Novak", "Okoye")

ZONES = ("Europe/London", "America/Bogota", "Asia/Tokyo", "Asia/Kolkata")


def person(number: int) -> str:
    """Return the name of the nth seeded person."""
    return f"{FIRST[number % len(FIRST)]} {LAST[number // len(FIRST) % len(LAST)]}"


def zone(number: int) -> str:
    """Return the time zone of the nth seeded person."""
    return ZONES[number % len(ZONES)]


def title(chance: random.Random) -> str:
    """Return a few words about what is wrong."""
    return f"{chance.choice(SERVICES)} {chance.choice(TROUBLES)}"


def sentence(chance: random.Random) -> str:
    """Return what someone did or saw, in one to three sentences."""
    return ". ".join(_clause(chance) for _ in range(chance.choice((1, 1, 1, 2, 3)))) + "."


def _clause(chance: random.Random) -> str:
    said = chance.choice(DOING).format(
        part=chance.choice(PARTS), name=f"{chance.choice(SERVICES)}-{chance.randrange(4096):x}"
    )
    return said[0].upper() + said[1:]
