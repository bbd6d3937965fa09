"""What people do in PagerDuty. Each act changes the account and queues the webhooks that PagerDuty would send."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from integrations.pagerduty.fake import changes, events
from integrations.pagerduty.fake.server import shapes
from integrations.pagerduty.fake.server.answers import ErrorAnswer, NotPossible

from .hours import Hours
from .records import Alert, Incident, Json, Responder

if TYPE_CHECKING:
    from .core import FakeAccount

T = TypeVar("T")


class Acts(Hours):
    """The acts of people. Incidents are named by id or number, people and things by id, handle or name.

    An act that PagerDuty's pages would not allow raises `NotPossible` with words to show.
    """

    def __init__(self, account: FakeAccount) -> None:
        self._account = account

    def acknowledge(self, who: str, incident: str | int) -> None:
        """Acknowledge an incident."""
        with self._account.lock:
            found = self._open(incident)
            user = self._account.user(who).id
            if user in found.acknowledgers:
                raise NotPossible("You already acknowledged it")
            self._do(changes.acknowledge, found, agent=self._agent(who), user=user)

    def unacknowledge(self, who: str, incident: str | int) -> None:
        """Undo the acknowledgement."""
        with self._account.lock:
            found = self._open(incident)
            if found.status != "acknowledged":
                raise NotPossible("It is not acknowledged")
            self._do(changes.unacknowledge, found, agent=self._agent(who))

    def resolve(self, who: str, incident: str | int) -> None:
        """Resolve an incident."""
        with self._account.lock:
            self._do(changes.resolve, self._open(incident), agent=self._agent(who))

    def reopen(self, who: str, incident: str | int) -> None:
        """Reopen a resolved incident."""
        with self._account.lock:
            found = self.incident(incident)
            if found.is_open:
                raise NotPossible("It is open")
            self._do(changes.reopen, found, agent=self._agent(who))

    def escalate(self, who: str, incident: str | int, *, level: int | None = None) -> None:
        """Escalate an incident to the next level, or to a given one."""
        with self._account.lock:
            self._do(changes.escalate, self._open(incident), agent=self._agent(who), level=level)

    def reassign(self, who: str, incident: str | int, to: str | list[str]) -> None:
        """Reassign an incident to other people, or to another escalation policy."""
        with self._account.lock:
            found, agent = self._open(incident), self._agent(who)
            names = [to] if isinstance(to, str) else to
            try:
                policy = self._account.policy(names[0]).id
            except LookupError:
                people = [self._account.user(name).id for name in names]
                self._do(changes.reassign, found, people, agent=agent)
            else:
                self._do(changes.delegate, found, policy, agent=agent)

    def note(self, who: str, incident: str | int, text: str) -> None:
        """Add a note."""
        with self._account.lock:
            self._do(changes.annotate, self.incident(incident), self._account.user(who).id, text)

    def status_update(self, who: str, incident: str | int, text: str) -> None:
        """Publish a status update."""
        with self._account.lock:
            self._do(changes.publish, self.incident(incident), self._account.user(who).id, text)

    def priority(self, who: str, incident: str | int, priority: str) -> None:
        """Set the priority; an empty one removes it."""
        with self._account.lock:
            id = self._account.priority(priority).id if priority else ""
            self._do(changes.set_priority, self._open(incident), id, agent=self._agent(who))

    def change_type(self, who: str, incident: str | int, type: str) -> None:
        """Change the incident's type."""
        with self._account.lock:
            if type not in self._account.account.types:
                raise NotPossible(f"There is no type {type}")
            self._do(changes.set_type, self._open(incident), type, agent=self._agent(who))

    def move(self, who: str, incident: str | int, service: str) -> None:
        """Move an incident to another service."""
        with self._account.lock:
            to = self._account.service(service).id
            self._do(changes.move, self._open(incident), to, agent=self._agent(who))

    def add_responder(self, who: str, incident: str | int, whom: str, message: str = "Please help") -> None:
        """Ask a person to help."""
        with self._account.lock:
            requester, user = self._account.user(who).id, self._account.user(whom).id
            self._do(changes.ask, self._open(incident), requester, user, message)

    def reply(self, who: str, incident: str | int, *, accept: bool = True) -> None:
        """Accept or decline a request for help."""
        with self._account.lock:
            found = self.incident(incident)
            waiting = self._asked(found, self._account.user(who).id)
            self._do(changes.reply, found, waiting, "accepted" if accept else "declined")

    def trigger(
        self, service: str, title: str, *, priority: str = "", urgency: str = "high", details: str = "", who: str = ""
    ) -> Incident:
        """Open an incident as a person, or report an alert as monitoring, which opens one or joins a grouped one."""
        with self._account.lock:
            found = self._account.service(service)
            integration = found.integrations[0].id if found.integrations else found.id
            key = self._account.next_id("K").lower()
            about: Json = {"key": key, "urgency": urgency, "details": details}
            about |= {"priority": self._account.priority(priority).id if priority else ""}
            if who:
                opened = {"title": title, "service": found.id, "policy": found.policy}
                return self._do(changes.open_incident, agent=self._agent(who), **opened, **about)
            machine = {"id": integration, "type": "inbound_integration_reference", "summary": found.name}
            alert = Alert(
                self._account.next_id("A"), key, title, integration, "critical", self._account.now(), found.name
            )
            return self._do(events.report, found, alert, agent=machine, **about)

    def merge(self, who: str, into: str | int, *sources: str | int) -> None:
        """Merge incidents into one, which takes over their alerts and resolves them."""
        with self._account.lock:
            target = self._open(into)
            for source in [self._open(one) for one in sources]:
                if source is target:
                    raise NotPossible("An incident cannot be merged into itself")
                self._do(changes.merge, source, target, agent=self._agent(who))

    def storm(self, n: int, service: str, title: str = "Errors on host {n}", **about: Any) -> list[Incident]:
        """Open many incidents at once, as monitoring does when something big breaks."""
        with self._account.lock:
            return [self.trigger(service, title.replace("{n}", str(number)), **about) for number in range(1, n + 1)]

    def pass_time(self, minutes: float) -> list[Incident]:
        """Make open incidents older by some minutes; return those that escalated, notified again or were resolved."""
        with self._account.lock:
            for incident in self._account.account.incidents.values():
                if incident.waits_until is not None:
                    incident.waits_until -= minutes * 60
                if incident.open_until is not None:
                    incident.open_until -= minutes * 60
            return self._account.tick()

    def incident(self, named: str | int) -> Incident:
        """Find an incident by id or number. Raises NotPossible."""
        for incident in self._account.account.incidents.values():
            if named in (incident.id, incident.number, str(incident.number)):
                return incident
        raise NotPossible(f"There is no incident {named}")

    def _open(self, named: str | int) -> Incident:
        incident = self.incident(named)
        if not incident.is_open:
            raise NotPossible("It is resolved")
        return incident

    def _asked(self, incident: Incident, user: str) -> Responder:
        for responder in incident.responders:
            if responder.user == user and responder.state == "pending":
                return responder
        raise NotPossible("No one asked you")

    def _agent(self, who: str) -> Json:
        return shapes.of(self._account).user_ref(self._account.user(who).id)

    def _do(self, change: Callable[..., T], *args: Any, **about: Any) -> T:
        try:
            result = change(self._account, *args, **about)
        except ErrorAnswer as refusal:
            raise NotPossible(refusal.body["error"]["message"]) from refusal
        self._account.changed()
        return result
