"""The records of an account. Times are seconds since 1970; people and things are referred to by id."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

Json = dict[str, Any]

DAY_S: Final = 86_400.0
SWITCHED_OFF: Final = frozenset({"maintenance", "disabled"})  # states in which a service creates no incidents
STAKEHOLDERS: Final = frozenset({"read_only_user", "read_only_limited_user"})


@dataclass(slots=True)
class User:
    """Someone who can be paged; ``notified_of`` are the urgencies that they have a notification rule for."""

    id: str
    name: str
    email: str
    title: str = ""
    time_zone: str = "Etc/UTC"
    role: str = "user"
    teams: list[str] = field(default_factory=list)
    notified_of: list[str] = field(default_factory=lambda: ["high", "low"])

    @property
    def is_stakeholder(self) -> bool:
        """Whether they can only view incidents: https://support.pagerduty.com/main/docs/user-roles"""
        return self.role in STAKEHOLDERS


@dataclass(slots=True)
class Team:
    """A team."""

    id: str
    name: str


@dataclass(slots=True)
class Layer:
    """A layer of a schedule, or a v3 rotation: the people who take turns, and when one of the turns began.

    ``start`` is the time of any handover; ``since`` and ``until`` bound the layer. In v3 only: ``every`` puts everyone
    on call at once, and an empty name is a turn that no one takes.
    """

    id: str
    users: list[str]
    start: float
    turn_s: float = DAY_S
    name: str = ""
    every: bool = False
    since: float | None = None
    until: float | None = None


@dataclass(slots=True)
class Override:
    """A person who takes over for a time. In v3: from which person, and in which rotation."""

    id: str
    user: str
    start: float
    end: float
    replaced: str = ""
    rotation: str = ""


@dataclass(slots=True)
class Schedule:
    """Who is on call when. ``v3`` schedules are based on shifts and may have several people on call at once."""

    id: str
    name: str
    time_zone: str = "Etc/UTC"
    description: str = ""
    v3: bool = False
    layers: list[Layer] = field(default_factory=list)
    overrides: list[Override] = field(default_factory=list)
    shifts: list[Override] = field(default_factory=list)
    teams: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Level:
    """A level of an escalation policy: the users and schedules it pages (ids) and how long it waits."""

    targets: list[str]
    delay_min: int = 30


@dataclass(slots=True)
class Policy:
    """An escalation policy."""

    id: str
    name: str
    levels: list[Level] = field(default_factory=list)
    loops: int = 0
    teams: list[str] = field(default_factory=list)
    description: str = ""


@dataclass(slots=True)
class Integration:
    """A way for events to reach a service, identified by its key."""

    id: str
    name: str
    key: str
    type: str = "events_api_v2_inbound_integration"


@dataclass(slots=True)
class Service:
    """A service that incidents are opened on.

    With ``grouping`` an alert may join an open incident instead of opening one: ``time`` (for ``timeout`` minutes of
    the configuration, where 0 means as long as it is open), ``intelligent``, or ``content_based`` on the configured
    ``fields``. If it ``has_alerts``, each event creates an alert; otherwise an event opens an incident that has its key
    and no alert. After ``acknowledgement_timeout`` seconds an acknowledged incident notifies again; after
    ``auto_resolve_timeout`` seconds an open one is resolved. None disables either.
    """

    id: str
    name: str
    policy: str
    description: str = ""
    integrations: list[Integration] = field(default_factory=list)
    teams: list[str] = field(default_factory=list)
    status: str = "active"
    grouping: str = ""
    grouping_config: Json = field(default_factory=dict)
    has_alerts: bool = True
    acknowledgement_timeout: int | None = None
    auto_resolve_timeout: int | None = None


@dataclass(slots=True)
class Priority:
    """How bad an incident is."""

    id: str
    name: str
    description: str = ""
    colour: str = "a8171c"


@dataclass(slots=True)
class Alert:
    """An alert that a machine reported, within an incident."""

    id: str
    key: str
    summary: str
    integration: str
    severity: str
    created_at: float
    source: str = ""
    status: str = "triggered"
    details: Any = None


@dataclass(slots=True)
class Note:
    """A note or a status update on an incident."""

    id: str
    user: str
    text: str
    at: float


@dataclass(slots=True)
class Responder:
    """A person who was asked to help, and their answer."""

    id: str
    user: str
    requester: str
    message: str
    at: float
    state: str = "pending"
    policy: str = ""
    updated_at: float = 0.0


@dataclass(slots=True)
class LogEntry:
    """An entry of an incident's log. It keeps what the incident was opened with, even when the title changes."""

    id: str
    type: str
    at: float
    agent: Json
    channel: str
    users: list[str] = field(default_factory=list)
    subject: str = ""
    details: str = ""


@dataclass(slots=True)
class Incident:
    """An incident.

    ``waits_until`` is when it escalates or, if acknowledged, notifies again; ``open_until`` is when its service
    resolves it. ``by_name`` means it was reassigned to people and does not escalate.
    """

    id: str
    number: int
    title: str
    service: str
    policy: str
    created_at: float
    key: str | None = None
    status: str = "triggered"
    urgency: str = "high"
    priority: str = ""
    type: str = "incident_default"
    details: str = ""
    level: int = 1
    loops: int = 0
    by_name: bool = False
    assignees: dict[str, float] = field(default_factory=dict)
    acknowledgers: dict[str, float] = field(default_factory=dict)
    resolved_at: float | None = None
    reopened_at: float | None = None
    resolve_reason: str = ""
    merged_into: str = ""
    changed_at: float = 0.0
    changed_by: Json = field(default_factory=dict)
    waits_until: float | None = None
    open_until: float | None = None
    bridge: Json = field(default_factory=dict)
    alerts: list[Alert] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    updates: list[Note] = field(default_factory=list)
    responders: list[Responder] = field(default_factory=list)
    log: list[LogEntry] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        """Whether it is not resolved."""
        return self.status != "resolved"


@dataclass(slots=True)
class Subscription:
    """Where webhooks go, and for which events. ``drops`` counts refusals in a row; they set ``disabled_until``."""

    id: str
    url: str
    secret: str
    events: list[str]
    filter_type: str = "account_reference"
    filter_id: str = ""
    description: str = ""
    active: bool = True
    custom_headers: dict[str, str] = field(default_factory=dict)
    drops: int = 0
    disabled_until: float = 0.0


@dataclass(slots=True)
class Rang:
    """One notification: a person, an incident and the reason."""

    at: float
    user: str
    incident: str
    why: str
    level: int = 1
    urgency: str = "high"


@dataclass(slots=True)
class Account:
    """Everything an account contains."""

    name: str = "Sandbox"
    subdomain: str = "sandbox"
    abilities: list[str] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)
    users: dict[str, User] = field(default_factory=dict)
    teams: dict[str, Team] = field(default_factory=dict)
    schedules: dict[str, Schedule] = field(default_factory=dict)
    policies: dict[str, Policy] = field(default_factory=dict)
    services: dict[str, Service] = field(default_factory=dict)
    priorities: dict[str, Priority] = field(default_factory=dict)
    incidents: dict[str, Incident] = field(default_factory=dict)
    subscriptions: dict[str, Subscription] = field(default_factory=dict)
    rang: list[Rang] = field(default_factory=list)
