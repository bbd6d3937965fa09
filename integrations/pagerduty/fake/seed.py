"""Build an account from a YAML file of people, schedules, policies, services and subscriptions."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

import yaml

from .records import Account, Json

if TYPE_CHECKING:
    from .core import FakeAccount

DEMO: Final = Path(__file__).parents[3] / "fixtures" / "pagerduty.yaml"


def read(path: Path = DEMO) -> dict[str, Any]:
    """Read the file of an account."""
    return dict(yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))


def furnish(account: FakeAccount, about: dict[str, Any]) -> None:
    """Replace an account's contents with those of a file."""
    account.replace(Account(**about["account"]))
    for name in about.get("teams", ()):
        account.add_team(name)
    for person in about.get("people", ()):
        fields = dict(person)
        account.add_user(fields.pop("handle"), **_teams(account, fields))
    for priority in about.get("priorities", ()):
        account.add_priority(**priority)
    for schedule in about.get("schedules", ()):
        _schedule(account, dict(schedule))
    for policy in about.get("policies", ()):
        fields = dict(policy)
        account.add_policy(fields.pop("name"), *fields.pop("levels"), **_teams(account, fields))
    for service in about.get("services", ()):
        _service(account, dict(service))
    for subscription in about.get("subscriptions", ()):
        account.add_subscription(**subscription)
    account.take_deliveries()
    account.changed()


def _teams(account: FakeAccount, fields: Json) -> Json:
    return fields | {"teams": [account.team(name).id for name in fields.get("teams", ())]}


def _schedule(account: FakeAccount, fields: Json) -> None:
    layers = fields.pop("layers")
    schedule = account.add_schedule(fields.pop("name"), **_teams(account, fields))
    for layer in map(dict, layers):
        start = _handover(account.now(), str(layer.pop("at", "09:00")), schedule.time_zone, layer.pop("day", None))
        account.add_layer(schedule, layer.pop("people"), start=start, turn_s=layer.pop("hours") * 3600.0, **layer)


def _handover(now: float, hour: str, time_zone: str, weekday: int | None) -> float:
    """Return the latest past time with this hour in this time zone, on this weekday (0 is Monday) if given."""
    here = datetime.fromtimestamp(now, UTC).astimezone(ZoneInfo(time_zone))
    day = here.date() - timedelta(days=(here.weekday() - weekday) % 7 if weekday is not None else 0)
    before = day - timedelta(days=7 if weekday is not None else 1)
    begins = [datetime.combine(one, time.fromisoformat(hour), here.tzinfo).timestamp() for one in (day, before)]
    return next(start for start in begins if start <= now)


def _service(account: FakeAccount, fields: Json) -> None:
    integrations = fields.pop("integrations", ())
    service = account.add_service(fields.pop("name"), fields.pop("policy"), **_teams(account, fields))
    for integration in integrations:
        key = account.routing_key if integration["key"] == "fallback" else integration["key"]
        account.add_integration(service.id, name=integration["name"], key=key)
