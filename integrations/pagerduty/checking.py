"""Check the PagerDuty setup, and return each result as a sentence with its next step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from incidents import sentences
from integrations import refused_last
from integrations.check_result import CheckResult, note, unanswered, wrong
from integrations.pagerduty.adapter import directory, route, shifts
from integrations.pagerduty.adapter.lookup import utc
from integrations.pagerduty.protocol import error_messages
from integrations.pagerduty.protocol.event_words import KINDS
from integrations.pagerduty.protocol.setup import Setup
from workflows.models import Page
from workflows.pager_port import OF_THE_ACCOUNT
from workflows.ports import VendorError

if TYPE_CHECKING:  # importing the wire loads PagerDuty's client, so only code that makes requests does it
    from integrations.pagerduty.adapter.client import PagerDutyPager

AHEAD: Final = timedelta(days=14)
HEARD: Final = frozenset(KINDS)
REFUSED: Final = ("http_401", "2006")  # PagerDuty rejects the key itself, not one request
REFUSALS: Final = {code: error_messages.words(code) for code in OF_THE_ACCOUNT}
# PagerDuty's hosts per region: the REST API and the Events API.
ELSEWHERE: Final = ("api.pagerduty.com", "events.pagerduty.com")
IN_THE_EU: Final = ("api.eu.pagerduty.com", "events.eu.pagerduty.com")


@dataclass(frozen=True, slots=True)
class Asking:
    """The account to check, the URL of our webhook, and the time of the check."""

    pager: PagerDutyPager
    webhook_url: str
    at: datetime


def findings(pager: PagerDutyPager, *, webhook_url: str, at: datetime) -> Iterator[CheckResult]:
    """Yield a result for each part of the setup; stop at the key if PagerDuty rejects it."""
    asking = Asking(pager, webhook_url, at)
    for question in QUESTIONS:
        try:
            yield from question(asking)
        except VendorError as error:
            yield wrong(f"{error.says}{_elsewhere(pager)}") if error.code in REFUSED else unanswered(error)
            if question is _key:
                return


def _elsewhere(pager: PagerDutyPager) -> str:
    """Say which other region the key may belong to, because PagerDuty's regions do not know each other's accounts."""
    if urlsplit(pager.setup.api_url).hostname not in ELSEWHERE:
        return ""
    return f" If the account is in the EU, set PAGERDUTY_API_URL to https://{IN_THE_EU[0]}."


def _key(asking: Asking) -> Iterator[CheckResult]:
    abilities = asking.pager.wire.call("GET", "/abilities").get("abilities") or []
    yield CheckResult("PagerDuty accepts PAGERDUTY_API_KEY; the first page shows whether it can write.")
    yield from refused_last.findings("pager", "PagerDuty", codes=REFUSALS)
    if "urgencies" not in abilities:
        says = (
            "The plan has no urgencies: each service decides how it notifies, which may be late. Set services to "
            "high urgency."
        )
        yield CheckResult(says, is_note=True)


def _left_elsewhere(asking: Asking) -> Iterator[CheckResult]:
    """Report how many pages are open in an account that is no longer connected."""
    pages = Page.objects.filter(elsewhere=True).exclude(status=Page.Status.RESOLVED)
    if count := pages.count():
        are = "page is open" if count == 1 else "pages are open"
        yield note(
            f"{count} {are} in a PagerDuty account that is no longer connected: Firekind can't see or change it. "
            "Resolve there what still pages someone, or set PAGERDUTY_API_KEY to a key of that account again."
        )


def _sender(asking: Asking) -> Iterator[CheckResult]:
    sender, id = asking.pager.setup.sender, asking.pager.sender_id()
    if not id:
        yield wrong(f"PAGERDUTY_FROM is {sender}, which is not a user there. Set it to the email of one, then restart.")
        return
    yield CheckResult(f"PAGERDUTY_FROM is the user {sender}.")
    first = _first_levels(asking, id)
    for name in first:
        yield wrong(
            f"{sender} is on the first level of {name} within two weeks: pages to it would reach no one then. Remove "
            "that user, or set PAGERDUTY_FROM to another one."
        )
    if not first:
        yield CheckResult(f"{sender} is not on the first level of any escalation policy for the next two weeks.")


def _first_levels(asking: Asking, sender_id: str) -> list[str]:
    oncalls = _oncalls(asking, [sender_id])
    return sorted({str(one["escalation_policy"]["summary"]) for one in oncalls if one["escalation_level"] == 1})


def _oncalls(asking: Asking, ids: Sequence[str]) -> Iterator[dict[str, Any]]:
    for n in range(0, len(ids), shifts.AT_ONCE):
        some = ids[n : n + shifts.AT_ONCE]
        query = {"user_ids[]": some, "since": utc(asking.at), "until": utc(asking.at + AHEAD)}
        yield from asking.pager.wire.pages("/oncalls", of="oncalls", query=query)


def _unnotified(asking: Asking) -> Iterator[CheckResult]:
    """Name everyone who is on call soon and has no rule that has PagerDuty notify them of our pages."""
    silent = {one.id: one for one in asking.pager.people() if one.silent}
    on_call: dict[str, set[str]] = {}
    for one in _oncalls(asking, sorted(silent)):
        on_call.setdefault(str(one["user"]["id"]), set()).add(str(one["escalation_policy"]["summary"]))
    for id, policies in sorted(on_call.items(), key=lambda pair: silent[pair[0]].name):
        yield wrong(
            f"{silent[id].name} is on call for {sentences.enumerated(sorted(policies))} within two weeks, but "
            "PagerDuty has no rule to notify them of an urgent page. Have one added to their profile there."
        )
    if not on_call:
        yield CheckResult("PagerDuty has a rule to notify everyone on call within two weeks of an urgent page.")


def _service(asking: Asking) -> Iterator[CheckResult]:
    setup = asking.pager.setup
    services = directory.services(asking.pager.wire)
    if not setup.service:
        says = "PAGERDUTY_SERVICE is not set: people, and policies that no service uses, cannot be paged."
        yield CheckResult(says, is_note=True)
    elif directory.named(services, setup.service):
        yield CheckResult(f"PAGERDUTY_SERVICE is the service {setup.service}.")
    else:
        yield wrong(f"PAGERDUTY_SERVICE is {setup.service}, which is not an enabled service there. Name one that is.")
    yield from _fallback(setup, services)
    for service in filter(directory.is_paused, services):
        yield note(
            f"The service {service['name']} is in a maintenance window: a page on it may notify no one, and one sent "
            "through the fallback is dropped. End the window in PagerDuty while people respond."
        )


def _fallback(setup: Setup, services: list[directory.Thing]) -> Iterator[CheckResult]:
    routing_key = setup.routing_key
    if not routing_key:
        yield note("PAGERDUTY_ROUTING_KEY is not set: no one is paged while PagerDuty's REST API is down.")
        return
    yield from _region(setup)
    leads_to = route.service_of(routing_key, services)
    service = next((one for one in services if one["id"] == leads_to), None)
    if service is None:
        yield wrong(
            "PAGERDUTY_ROUTING_KEY does not belong to any integration the key can see. Copy it from a service's page."
        )
        return
    yield CheckResult(f"PAGERDUTY_ROUTING_KEY pages through the service {service['name']}.")
    if grouping := _grouping(service):
        yield note(
            f"The service {service['name']} groups alerts ({grouping}): a page sent through the fallback can join an "
            "open incident there, and PagerDuty then notifies no one. Turn grouping off for it, or use a service of "
            "Firekind's own for PAGERDUTY_ROUTING_KEY."
        )


def _region(setup: Setup) -> Iterator[CheckResult]:
    """Report a fallback that would send pages to the other region, which drops them."""
    api, events = urlsplit(setup.api_url).hostname, urlsplit(setup.events_url).hostname
    if (api in IN_THE_EU) != (events in IN_THE_EU) and {api, events} <= {*IN_THE_EU, *ELSEWHERE}:
        fits = IN_THE_EU[1] if api in IN_THE_EU else ELSEWHERE[1]
        yield wrong(
            f"PAGERDUTY_EVENTS_URL is in another region than PAGERDUTY_API_URL, so a page sent through the fallback "
            f"reaches no one. Set it to https://{fits}, or leave it empty."
        )


def _grouping(service: directory.Thing) -> str:
    """Return how a service groups alerts, from its current or its older setting; empty when it does not."""
    chosen = (service.get("alert_grouping_parameters") or {}).get("type") or service.get("alert_grouping")
    return str(chosen or "").replace("_", " ")


def _webhook(asking: Asking) -> Iterator[CheckResult]:
    if not asking.pager.setup.webhook_secrets:
        yield wrong("PAGERDUTY_WEBHOOK_SECRETS is not set: webhooks are rejected. Set it to the subscription's secret.")
    listed = asking.pager.wire.pages("/webhook_subscriptions", of="webhook_subscriptions")
    ours = [one for one in listed if one["delivery_method"].get("url") == asking.webhook_url]
    if not ours:
        yield wrong(f"No webhook subscription points at {asking.webhook_url}. Add a V3 one there.")
    for subscription in ours:
        yield _subscription(subscription)


def _subscription(one: dict[str, Any]) -> CheckResult:
    name = f"The webhook subscription {one['id']}"
    if not one.get("active"):
        return wrong(f"{name} is disabled. Enable it in PagerDuty.")
    if one["delivery_method"].get("temporarily_disabled"):
        return wrong(f"{name} is off for a day, because we refused three webhooks. Enable it in PagerDuty.")
    if missing := sorted(HEARD - set(one.get("events") or ())):
        return CheckResult(f"{name} does not send {', '.join(missing)}. Select them in PagerDuty.", is_note=True)
    if (one.get("filter") or {}).get("type") != "account_reference":
        return CheckResult(f"{name} covers only one service or team; other pages are polled.", is_note=True)
    return CheckResult(f"{name} points here and is enabled.")


QUESTIONS: Final[tuple[Callable[[Asking], Iterator[CheckResult]], ...]] = (
    _key,
    _left_elsewhere,
    _sender,
    _unnotified,
    _service,
    _webhook,
)
