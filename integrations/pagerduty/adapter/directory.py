"""The people and targets of one PagerDuty account."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from incidents.people import emails
from integrations.pagerduty.protocol import error_messages
from workflows.pager_port import PagerPerson, Target
from workflows.ports import VendorError

if TYPE_CHECKING:  # importing the wire loads PagerDuty's client, so only code that makes requests does it
    from integrations.pagerduty.adapter.wire import Wire

GONE = frozenset({"http_404", "2100", "3004", "5001", "5002"})
STAKEHOLDERS = frozenset({"read_only_user", "read_only_limited_user"})
Thing = Mapping[str, Any]


def people(wire: Wire) -> list[PagerPerson]:
    """Read every user who can be paged. Stakeholders can only view incidents and are never on call."""
    users = wire.pages("/users", of="users", query={"include[]": ["notification_rules"]})
    return [_person(user) for user in users if user.get("role") not in STAKEHOLDERS]


def _person(user: Thing) -> PagerPerson:
    return PagerPerson(_id(user), _name(user), str(user.get("email") or ""), _url(user), silent=is_silent(user))


def is_silent(user: Thing) -> bool:
    """Return whether a user has no notification rule for urgent incidents, which all our pages are.

    https://support.pagerduty.com/main/docs/notification-rules
    """
    rules = user.get("notification_rules")
    return isinstance(rules, list) and not any(rule.get("urgency") in {None, "high"} for rule in rules)


def sender_id(wire: Wire, email: str) -> str:
    """Return the id of the user with this email, empty when there is none."""
    users = wire.pages("/users", of="users", query={"query": email})
    return next((_id(user) for user in users if emails.same(str(user.get("email") or ""), email)), "")


def services(wire: Wire) -> list[Thing]:
    """Read every enabled service with its integrations, in the order of their names."""
    return sorted((one for one in _every_service(wire) if one.get("status") != "disabled"), key=_name)


def _every_service(wire: Wire) -> list[Thing]:
    return list(wire.pages("/services", of="services", query={"include[]": ["integrations"]}))


def named(found: Sequence[Thing], name: str) -> str:
    """Return the id of the service with this id or name, ignoring case; empty when there is none."""
    if any(_id(one) == name for one in found):
        return name
    return next((_id(one) for one in found if _name(one).casefold() == name.casefold()), "")


def targets(wire: Wire, found: Sequence[Thing], *, service: str) -> list[Target]:
    """Read every escalation policy, service and schedule. Policies without a service of their own use ``service``.

    A policy's pages are opened on the first of its services. A service in a maintenance window is skipped, unless all
    of them and ``service`` are in one.
    """
    policies = wire.pages("/escalation_policies", of="escalation_policies")
    opened_on = _opened_on(found, service=service)
    return [
        *(_policy_target(policy, opened_on(_id(policy))) for policy in policies),
        *(_service_target(one) for one in found),
        *schedules(wire),
    ]


def _opened_on(found: Sequence[Thing], *, service: str) -> Callable[[str], str]:
    paused = {_id(one) for one in found if is_paused(one)}
    own: dict[str, list[str]] = {}
    for one in found:
        own.setdefault(_policy(one), []).append(_id(one))

    def chosen(policy: str) -> str:
        fit = [*own.get(policy, ()), *filter(None, [service])]
        return next((one for one in fit if one not in paused), fit[0] if fit else "")

    return chosen


def _policy_target(policy: Thing, service: str) -> Target:
    rules = policy.get("escalation_rules") or ()
    return Target(
        kind="policy",
        id=_id(policy),
        name=_name(policy),
        url=_url(policy),
        policy=_id(policy),
        service=service,
        levels=len(rules),
        schedules=tuple(tuple(map(_id, filter(_is_schedule, rule.get("targets") or ()))) for rule in rules),
    )


def _is_schedule(target: Thing) -> bool:
    return str(target.get("type") or "").startswith("schedule")


def _service_target(service: Thing) -> Target:
    return Target(
        kind="service",
        id=_id(service),
        name=_name(service),
        url=_url(service),
        policy=_policy(service),
        service=_id(service),
        paused=is_paused(service),
    )


def is_off(service: Thing) -> bool:
    """Return whether a service creates no incidents now: it is disabled or in a maintenance window."""
    return service.get("status") == "disabled" or is_paused(service)


def is_paused(service: Thing) -> bool:
    """Return whether a service is in a maintenance window, when it creates no incidents and may notify no one."""
    return service.get("status") == "maintenance"


def schedules(wire: Wire) -> list[Target]:
    """Read every schedule of both kinds. Shift-based ones are only in a list of their own, as references."""
    found = {_id(one): one for one in [*wire.pages("/schedules", of="schedules"), *_of_shifts(wire)]}
    return [Target(kind="schedule", id=id, name=_name(one), url=_url(one)) for id, one in found.items()]


def _of_shifts(wire: Wire) -> Iterator[Thing]:
    try:
        yield from wire.pages("/v3/schedules", of="schedules")
    except VendorError as error:
        if error.code not in GONE:  # the account has no shift-based schedules yet
            raise


def default_service(wire: Wire, name: str) -> str:
    """Return the id of the configured service. Raises ``VendorError`` when it does not exist or is disabled."""
    found = named(services(wire), name) if name else ""
    if not found:
        code = "service_off" if name and named(_every_service(wire), name) else "no_service"
        raise VendorError(error_messages.words(code), code=code, method="pagerduty GET /services")
    return found


def _id(thing: Thing) -> str:
    return str(thing["id"])


def _name(thing: Thing) -> str:
    return str(thing.get("name") or thing.get("summary") or thing["id"])


def _url(thing: Thing) -> str:
    return str(thing.get("html_url") or "")


def _policy(service: Thing) -> str:
    return str((service.get("escalation_policy") or {}).get("id") or "")
