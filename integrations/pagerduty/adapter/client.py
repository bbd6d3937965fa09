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

if TYPE_CHECKING:  # importing the wire loads PagerDuty's client, so only code that makes requests does it
    from integrations.pagerduty.adapter.wire import EventsWire, Wire

MAX_NOTE: Final = 25_000
ENDED: Final = frozenset(str(code) for code in CONVERGED)
IN_A_NAME: Final = {"1008": "not_a_user", "1018": "may_not_acknowledge", "2010": "may_not_acknowledge"}


def rest(setup: Setup) -> Wire:
    """Return a client for the REST API."""
    from integrations.pagerduty.adapter.wire import Wire

    return Wire(api_url=setup.api_url, api_key=setup.api_key, sender=setup.sender)


def fallback(setup: Setup) -> EventsWire:
    """Return a client for the Events API."""
    from integrations.pagerduty.adapter.wire import EventsWire

    return EventsWire(events_url=setup.events_url, routing_key=setup.routing_key)


@contextmanager
def _named(verb: str) -> Iterator[None]:
    """Attribute errors to the port's verb, so that a rate limit on any of its requests delays that verb's effects."""
    try:
        yield
    except VendorError as error:
        error.method = verb
        raise


def _not_theirs(error: VendorError) -> VendorError:
    """Reword the error of a request in a person's name, so that it is about them and not the user who opens pages."""
    if (code := IN_A_NAME.get(error.code)) is None:
        return error
    return VendorError(error_messages.words(code), code=code, method=error.method)


class PagerDutyPager:
    """PagerDuty as the pager. Satisfies ``workflows.ports.Pager``.

    Creating it does not load PagerDuty's client, which takes many megabytes; the first request does.
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
        self._sender = self._service = ""  # their ids, once known

    @cached_property
    def wire(self) -> Wire:
        """The REST API."""
        return self._rest(self.setup)

    @cached_property
    def events(self) -> EventsWire | None:
        """The Events API, which still works while the REST API is down; None without a routing key."""
        return self._fallback(self.setup) if self.setup.routing_key else None

    @property
    def connection(self) -> str:
        """An opaque identifier of the settings that connect PagerDuty."""
        return sha256(f"{self.setup.api_url}\n{self.setup.api_key}".encode()).hexdigest()[:32]

    def close(self) -> None:
        """Close the connections of both APIs."""
        for way in (self.__dict__.get("wire"), self.__dict__.get("events")):  # only those already created
            if way is not None:
                way.close()

    def ring(self, ring: PageRequest) -> PageStatus:
        """Open a page, or return the one already opened with its key, in any status."""
        with _named("pager.ring"):
            return open_page.ring(self, ring)

    def find(
        self, key: str, *, service: str, since: datetime, codename: str = "", first: bool = False
    ) -> PageStatus | None:
        """Find a page by its key, in any status and however it was sent; ``joined`` is one in another's incident.

        Of several, an open one is returned, or the ``first`` that was opened.
        """
        found = None if first else lookup.by_key(self.wire, key, codename=codename)
        if found or not (first or self.setup.routing_key):
            return found
        services = [one for one in (self.fallback_service(), service) if one][:1] if self.setup.routing_key else []
        look = lookup.first if first else lookup.by_alert
        return look(self.wire, key, services=services, since=since, codename=codename)

    def twins(self, id: str, *, key: str, since: datetime) -> Sequence[PageStatus]:
        """Find what else is open under a page's key, because PagerDuty only deduplicates a key within one service."""
        services = [one for one in [self.fallback_service()] if one]
        return lookup.twins(self.wire, key, besides=id, services=services, since=since)

    def open_incidents(self, *, since: datetime) -> Sequence[OpenIncident]:
        """List the open incidents that were opened since a time, by anyone."""
        return lookup.open_since(self.wire, since)

    def look(self, id: str) -> PageStatus | None:
        """Return a page's status; None when PagerDuty has none with that id."""
        if not id:
            return None
        try:
            return lookup.by_id(self.wire, id)
        except VendorError as error:
            if error.code not in directory.GONE:
                raise
            return None

    def retitle(self, id: str, title: str, *, key: str = "", codename: str = "") -> bool:
        """Change a page's title.

        Returns False if it must not change: the page has ended with another title, or the incident is someone else's.
        """
        with _named("pager.retitle"):
            if not id:
                return False
            incident, wanted = self._incident(id), title[: opening.MAX_TITLE]
            if not ownership.of(self.wire, incident, key=key, codename=codename).is_ours:
                return False
            return incident.get("title") == wanted or self._change(id, title=wanted)

    def resolve(self, id: str, *, key: str, via: str, codename: str = "") -> bool:
        """Resolve a page; one that already ended is fine. Without an id, resolve it by its key the way it was sent.

        Returns False when it stays open: its incident has other people's alerts, and none of ours that an event could
        resolve.
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
        return ownership.of(self.wire, self._incident(id), key=key, codename=codename)

    def _incident(self, id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.wire.call("GET", "/incidents/{id}", id=id)["incident"]
        return found

    def _resolve_by_event(self, key: str) -> bool:
        if self.events is None:
            raise opening.refusal("no_fallback")
        self.events.send(events_api.resolve(key))
        return True

    def _change(self, id: str, **changes: str) -> bool:
        """Change a page; return False if PagerDuty rejects that, as it does when the page is already in that state."""
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
        """Acknowledge a page in the name of the person with this email, and return its status afterwards.

        Its status is read first, because PagerDuty would reopen a page that was already resolved.
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
        """Add a note to a page."""
        body = {"note": {"content": text[:MAX_NOTE]}}
        _ = self.wire.call("POST", "/incidents/{id}/notes", id=id, body=body)["note"]

    def people(self) -> Sequence[PagerPerson]:
        """Read everyone who can be paged."""
        return directory.people(self.wire)

    def targets(self) -> Sequence[Target]:
        """Read every escalation policy, service and schedule, and learn which service the routing key belongs to."""
        services = directory.services(self.wire)
        if self.setup.routing_key:
            self.routes.learn(self.setup.routing_key, route.service_of(self.setup.routing_key, services))
        self._service = directory.named(services, self.setup.service)
        return directory.targets(self.wire, services, service=self._service)

    def turns(
        self, *, policies: Sequence[str], schedules: Sequence[str], since: datetime, until: datetime
    ) -> Sequence[Turn]:
        """Read who is on call when, overrides applied, for each level of these policies and for these schedules."""
        return shifts.turns(self.wire, policies=policies, schedules=schedules, since=since, until=until)

    def overrides(self, *, schedules: Sequence[str], since: datetime, until: datetime) -> Sequence[Turn]:
        """Read the overrides of these schedules, with one or two requests each, because no request covers several."""
        return shifts.overrides(self.wire, schedules=schedules, since=since, until=until)

    def sender_id(self) -> str:
        """Return the id of the user in whose name pages are opened, or an empty string; it is read only once."""
        self._sender = self._sender or directory.sender_id(self.wire, self.setup.sender)
        return self._sender

    def own_service(self) -> str:
        """Return the id of the service for pages without one of their own.

        Raises ``VendorError`` when none is configured.
        """
        self._service = self._service or directory.default_service(self.wire, self.setup.service)
        return self._service

    def fallback_service(self) -> str:
        """Return the id of the service that the fallback's events open pages on; empty when it is not known yet."""
        return self.routes.leads_to(self.setup.routing_key) if self.setup.routing_key else ""

    def is_on_fallback_service(self, service: str) -> bool:
        """Return whether PagerDuty would recognise a page on this service by its key if it also arrived as an event."""
        return (service or self._service) == self.fallback_service() != ""
