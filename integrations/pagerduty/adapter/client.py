"""The pager port on PagerDuty: each method does one job with as few requests as possible."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from integrations.pagerduty.adapter import directory, events_api, lookup, open_page, opening, ownership, route, shifts
from integrations.pagerduty.protocol import error_messages
from integrations.pagerduty.protocol.rules import CONVERGED
from integrations.pagerduty.protocol.setup import Setup
from workflows.pager_port import OpenIncident, PageRequest, PagerPerson, PageStatus, Target, Turn
from workflows.ports import VendorError

if TYPE_CHECKING:  # the wire brings PagerDuty's client, which only those who call it load
    from integrations.pagerduty.adapter.wire import EventsWire, Wire

MAX_NOTE: Final = 25_000
ENDED: Final = frozenset(str(code) for code in CONVERGED)
IN_A_NAME: Final = {"1008": "not_a_user", "1018": "may_not_acknowledge", "2010": "may_not_acknowledge"}


def rest(setup: Setup) -> Wire:
    """Open the way to the REST API."""
    from integrations.pagerduty.adapter.wire import Wire

    return Wire(api_url=setup.api_url, api_key=setup.api_key, sender=setup.sender)


def fallback(setup: Setup) -> EventsWire:
    """Open the way to the Events API."""
    from integrations.pagerduty.adapter.wire import EventsWire

    return EventsWire(events_url=setup.events_url, routing_key=setup.routing_key)


@contextmanager
def _named(verb: str) -> Iterator[None]:
    """Let a rate limit apply to what effects call it: whichever request of an errand met it, the errand waits."""
    try:
        yield
    except VendorError as error:
        error.method = verb
        raise


def _not_theirs(error: VendorError) -> VendorError:
    """Say of what was asked in someone's name what is wrong with that person, and not with who pages are opened as."""
    if (code := IN_A_NAME.get(error.code)) is None:
        return error
    return VendorError(error_messages.words(code), code=code, method=error.method)


class PagerDutyPager:
    """Who rings people, when that is PagerDuty. Satisfies ``workflows.ports.Pager``.

    Made without loading PagerDuty's client, which takes many megabytes: the first request does that.
    """

    def __init__(
        self,
        setup: Setup,
        *,
        routes: route.Routes,
        rest: Callable[[Setup], Wire] = rest,
        fallback: Callable[[Setup], EventsWire] = fallback,
    ) -> None:
        self.setup = setup
        self.routes = routes
        self._rest, self._fallback = rest, fallback
        self._sender = self._service = ""  # their ids, once they are known

    @cached_property
    def wire(self) -> Wire:
        """The way to the REST API."""
        return self._rest(self.setup)

    @cached_property
    def events(self) -> EventsWire | None:
        """The way that stays open while the REST API is down; None without a routing key."""
        return self._fallback(self.setup) if self.setup.routing_key else None

    @property
    def connection(self) -> str:
        """An opaque name of the settings by which PagerDuty is connected."""
        return sha256(f"{self.setup.api_url}\n{self.setup.api_key}".encode()).hexdigest()[:32]

    def close(self) -> None:
        """Let go of the connections of both ways."""
        for way in (self.__dict__.get("wire"), self.__dict__.get("events")):  # those that were made
            if way is not None:
                way.close()

    def ring(self, ring: PageRequest) -> PageStatus:
        """Open a page, or return the one already opened with its key, in any status."""
        with _named("pager.ring"):
            return open_page.ring(self, ring)

    def find(self, key: str, *, service: str, since: datetime, codename: str = "") -> PageStatus | None:
        """Find a page by its key, in any status and however it was sent; ``joined`` is one in another's incident."""
        found = lookup.by_key(self.wire, key, codename=codename)
        if found or not self.setup.routing_key:
            return found
        services = [one for one in (self.fallback_service(), service) if one][:1]
        return lookup.by_alert(self.wire, key, services=services, since=since, codename=codename)

    def twins(self, id: str, *, key: str, since: datetime) -> Sequence[PageStatus]:
        """Find what is open under a page's key besides the page: PagerDuty merges within one service alone."""
        services = [one for one in [self.fallback_service()] if one]
        return lookup.twins(self.wire, key, besides=id, services=services, since=since)

    def open_incidents(self, *, since: datetime) -> Sequence[OpenIncident]:
        """List what was opened since a moment and is open, whoever opened it."""
        return lookup.open_since(self.wire, since)

    def look(self, id: str) -> PageStatus | None:
        """Return how a page stands; None when PagerDuty has none of that id."""
        if not id:
            return None
        try:
            return lookup.by_id(self.wire, id)
        except VendorError as error:
            if error.code not in directory.GONE:
                raise
            return None

    def retitle(self, id: str, title: str, *, key: str = "", codename: str = "") -> bool:
        """Change a page's title; False where that is not to be: it has ended, or the incident is someone else's."""
        with _named("pager.retitle"):
            if not id or not self._whose(id, key=key, codename=codename).is_ours:
                return False
            return self._change(id, title=title[: opening.MAX_TITLE])

    def resolve(self, id: str, *, key: str, via: str, codename: str = "") -> bool:
        """End a page; one that ended already is fine. Without an id it is ended the way it was sent, by its key.

        Return False where it was left open, because alerts of others are in its incident and none of ours.
        """
        with _named("pager.resolve"):
            return self._end(id, key=key, via=via, codename=codename)

    def _end(self, id: str, *, key: str, via: str, codename: str) -> bool:
        if via == "events" and not id:
            return self._resolve_by_event(key)
        if not id:
            found = lookup.by_key(self.wire, key, codename=codename)
            if found is None or found.status == "resolved":
                return True
            if not found.id:
                return self._resolve_by_event(key)
            id = found.id
        return self._end_known(id, key=key, via=via)

    def _end_known(self, id: str, *, key: str, via: str) -> bool:
        try:
            whose = self._whose(id, key=key)
            if whose.is_whole:
                self._change(id, status="resolved")
                return True
        except VendorError as error:
            if via != "events" or error.code not in open_page.DOWN:
                raise
            return self._resolve_by_event(key)
        return bool(whose.alert and self.events is not None) and self._resolve_by_event(key)

    def _whose(self, id: str, *, key: str, codename: str = "") -> ownership.Ownership:
        incident = self.wire.call("GET", "/incidents/{id}", id=id)["incident"]
        return ownership.of(self.wire, incident, key=key, codename=codename)

    def _resolve_by_event(self, key: str) -> bool:
        if self.events is None:
            raise opening.refusal("no_fallback")
        self.events.send(events_api.resolve(key))
        return True

    def _change(self, id: str, **changes: str) -> bool:
        """Change a page; return whether PagerDuty accepted it: a page already in that state rejects it."""
        try:
            _ = self._put(id, changes)["incident"]
        except VendorError as error:
            if error.code not in ENDED:
                raise
            return False
        return True

    def _put(self, id: str, changes: Mapping[str, str], *, sender: str = "") -> dict[str, Any]:
        body = {"incident": {"type": "incident", **changes}}
        return self.wire.call("PUT", "/incidents/{id}", id=id, body=body, sender=sender)

    def acknowledge(self, id: str, *, by: str) -> PageStatus:
        """Acknowledge a page in someone's name, by their email; return how it stands then.

        It is looked at first: PagerDuty would open one again that was resolved.
        """
        with _named("pager.acknowledge"):
            now = lookup.by_id(self.wire, id)
            if now.status != "triggered":
                return now
            try:
                return lookup.rung(self._put(id, {"status": "acknowledged"}, sender=by)["incident"])
            except VendorError as error:
                if error.code in ENDED:
                    return lookup.by_id(self.wire, id)
                raise _not_theirs(error) from error

    def note(self, id: str, text: str) -> None:
        """Write a note on a page."""
        body = {"note": {"content": text[:MAX_NOTE]}}
        _ = self.wire.call("POST", "/incidents/{id}/notes", id=id, body=body)["note"]

    def people(self) -> Sequence[PagerPerson]:
        """Read everyone who can be paged."""
        return directory.people(self.wire)

    def targets(self) -> Sequence[Target]:
        """Read every escalation policy, service and schedule, and learn where the fallback's routing key leads."""
        services = directory.services(self.wire)
        if self.setup.routing_key:
            self.routes.learn(self.setup.routing_key, route.service_of(self.setup.routing_key, services))
        self._service = directory.named(services, self.setup.service)
        return directory.targets(self.wire, services, service=self._service)

    def turns(
        self, *, policies: Sequence[str], schedules: Sequence[str], since: datetime, until: datetime
    ) -> Sequence[Turn]:
        """Read who is on call when, overrides applied, for these policies (each level) and schedules."""
        return shifts.turns(self.wire, policies=policies, schedules=schedules, since=since, until=until)

    def overrides(self, *, schedules: Sequence[str], since: datetime, until: datetime) -> Sequence[Turn]:
        """Read the overrides of these schedules, one or two requests for each: no list has those of several."""
        return shifts.overrides(self.wire, schedules=schedules, since=since, until=until)

    def sender_id(self) -> str:
        """Return the id of the user in whose name pages are opened; asked once, empty when there is none."""
        self._sender = self._sender or directory.sender_id(self.wire, self.setup.sender)
        return self._sender

    def own_service(self) -> str:
        """Return the id of the service for pages that have none; raise ``VendorError`` when none is named."""
        self._service = self._service or directory.default_service(self.wire, self.setup.service)
        return self._service

    def fallback_service(self) -> str:
        """Return the id of the service that the fallback's events open pages on; empty when it was never learnt."""
        return self.routes.leads_to(self.setup.routing_key) if self.setup.routing_key else ""

    def is_on_fallback_service(self, service: str) -> bool:
        """Return whether PagerDuty would recognise a page on this service by its key when it came as an event too."""
        return (service or self._service) == self.fallback_service() != ""
