"""How PagerDuty events read for tired people: one table. Events that are not in it are stored and ignored.

https://developer.pagerduty.com/docs/webhooks-overview, "Event Types"
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class PagerEventKind:
    """One type of event: our word for it, and its sentence with and without a person's name.

    ``told`` kinds are posted in the channel; the others are only on the timeline. ``text`` is the path in the event's
    data to what someone wrote or what something was set to; ``otherwise`` is the sentence used without it.
    """

    word: str
    did: str
    happened: str
    told: bool = False
    text: tuple[str, ...] = ()
    otherwise: str = ""


KINDS: Final = {
    "incident.triggered": PagerEventKind("triggered", "opened the page to {page}", "The page to {page} was opened"),
    "incident.acknowledged": PagerEventKind(
        "acknowledged", "acknowledged the page to {page}", "The page to {page} was acknowledged", told=True
    ),
    "incident.unacknowledged": PagerEventKind(
        "unacknowledged",
        "unacknowledged the page to {page}: paging again",
        "No one followed up on the page to {page}: paging again",
        told=True,
    ),
    "incident.resolved": PagerEventKind(
        "resolved",
        "resolved the page to {page} in PagerDuty",
        "The page to {page} was resolved in PagerDuty",
        told=True,
    ),
    "incident.reopened": PagerEventKind(
        "reopened",
        "reopened the page to {page} in PagerDuty: paging again",
        "The page to {page} was reopened in PagerDuty: paging again",
        told=True,
    ),
    "incident.escalated": PagerEventKind(
        "escalated",
        "escalated the page to {page}{level}: now paging {people}",
        "No one answered the page to {page}, so it was escalated{level}: now paging {people}",
        told=True,
    ),
    "incident.reassigned": PagerEventKind(
        "reassigned",
        "reassigned the page to {page}: now paging {people}",
        "The page to {page} was reassigned: now paging {people}",
        told=True,
    ),
    "incident.delegated": PagerEventKind(
        "delegated",
        "delegated the page to {page} to {text}",
        "The page to {page} was delegated to {text}",
        told=True,
        text=("escalation_policy", "summary"),
        otherwise="someone else",
    ),
    "incident.responder.added": PagerEventKind(
        "asked",
        "asked {people} to help with the page to {page}",
        "{people} {are} asked to help with the page to {page}",
    ),
    "incident.responder.replied": PagerEventKind(
        "replied",
        "answered the request for help with the page to {page}",
        "The request for help with the page to {page} was answered",
    ),
    "incident.priority_updated": PagerEventKind(
        "priority",
        "set the priority of the page to {page} to {text}",
        "The priority of the page to {page} is now {text}",
        text=("priority", "summary"),
        otherwise="none",
    ),
    "incident.annotated": PagerEventKind(
        "noted",
        "wrote in PagerDuty: {text}",
        "A note in PagerDuty: {text}",
        told=True,
        text=("content",),
        otherwise="(no text)",
    ),
    "incident.status_update_published": PagerEventKind(
        "updated",
        "published an update in PagerDuty: {text}",
        "An update in PagerDuty: {text}",
        told=True,
        text=("message",),
        otherwise="(no text)",
    ),
    "incident.incident_type.changed": PagerEventKind(
        "typed",
        "changed the type of the page to {page} in PagerDuty to {text}",
        "The page to {page} now has the type {text} in PagerDuty",
        text=("incident_type", "name"),
        otherwise="another one",
    ),
    "incident.service_updated": PagerEventKind(
        "moved",
        "moved the page to {page} to the service {text}",
        "The page to {page} was moved to the service {text}",
        text=("service", "summary"),
        otherwise="another one",
    ),
}

# Resolved by being merged into another incident.
MERGED: Final = PagerEventKind(
    "resolved",
    "merged the page to {page} into another PagerDuty incident",
    "The page to {page} was merged into another PagerDuty incident",
    told=True,
)

# A request to the person on call for a policy, not to a named person.
POLICY_ASKED: Final = PagerEventKind(
    "asked",
    "asked {text} to help with the page to {page}",
    "Help with the page to {page} was requested from {text}",
    text=("escalation_policy", "summary"),
    otherwise="someone else",
)

# Answers of people who were asked to help, by the ``state`` of the answer.
REPLIES: Final = {
    "accepted": PagerEventKind(
        "joined",
        "joined the page to {page} in PagerDuty",
        "The request for help with the page to {page} was accepted",
        told=True,
    ),
    "declined": PagerEventKind(
        "declined",
        "cannot help with the page to {page} now",
        "The request for help with the page to {page} was declined",
        told=True,
    ),
}
