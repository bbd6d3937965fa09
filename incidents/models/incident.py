from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models.functions import Upper

from incidents.models import page_routes
from incidents.models.people import Person
from incidents.models.types import IncidentType, PolicyVersion
from incidents.policies.policy import Policy

if TYPE_CHECKING:
    from django.db.models.fields.related_descriptors import RelatedManager

    from incidents.models.event import Event


class Status(models.TextChoices):
    OPEN = "open", "Open"
    MITIGATED = "mitigated", "Mitigated"
    RESOLVED = "resolved", "Resolved"
    CANCELLED = "cancelled", "Cancelled"
    DUPLICATE = "duplicate", "Duplicate"

    @property
    def is_active(self) -> bool:
        """Whether the incident is still being responded to."""
        return self in ACTIVE


ACTIVE = (Status.OPEN, Status.MITIGATED)


class IncidentManager(models.Manager["Incident"]):
    """Reads incidents without their words, which only the search needs: they grow with the timeline."""

    def get_queryset(self) -> models.QuerySet[Incident]:
        """Return all incidents; a join that selects one leaves its words out too."""
        return super().get_queryset().defer("words")


class Incident(models.Model):
    """The case. Written only by ``incidents.lifecycle``.

    ``private`` never goes back to false. ``is_drill`` marks an incident for practice, from the start; ``replays`` is
    the incident that happens again in it. ``room`` numbers the place where people talk: moving to a private successor
    adds one. ``revision`` grows with every fact that workflows plan from; ``last_n`` is the number of its newest event.
    """

    codename = models.CharField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    summary = models.TextField(blank=True)
    type = models.ForeignKey(IncidentType, on_delete=models.PROTECT, related_name="incidents", db_index=False)
    policy_version = models.ForeignKey(PolicyVersion, on_delete=models.PROTECT, related_name="incidents")
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.OPEN)
    active = models.GeneratedField(
        expression=models.ExpressionWrapper(
            models.Q(status__in=[Status.OPEN, Status.MITIGATED]), output_field=models.BooleanField()
        ),
        output_field=models.BooleanField(),
        db_persist=True,
    )
    private = models.BooleanField(default=False)
    closed_at = models.DateTimeField(null=True)  # from then on, people come into a private incident only by name
    is_drill = models.BooleanField(default=False, db_default=False)
    room = models.PositiveSmallIntegerField(default=1)
    lead = models.ForeignKey(Person, null=True, blank=True, on_delete=models.SET_NULL, related_name="leads")
    declared_by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")
    duplicate_of = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="duplicates")
    replays = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    services = ArrayField(models.CharField(max_length=80), default=list, blank=True)
    roles = models.JSONField(default=dict, blank=True)  # role -> person id
    checked = ArrayField(models.CharField(max_length=200), default=list, blank=True)
    declared_at = models.DateTimeField()
    typed_at = models.DateTimeField()
    clear_at = models.DateTimeField(null=True)
    mitigated_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    update_due_at = models.DateTimeField(null=True)
    archive_asked = models.BooleanField(default=False)
    revision = models.PositiveIntegerField(default=0)
    traceparent = models.CharField(max_length=55, blank=True, default="", db_default="")  # of the newest command
    last_n = models.PositiveIntegerField(default=0)
    words = SearchVectorField(null=True)

    objects: ClassVar[IncidentManager] = IncidentManager()
    if TYPE_CHECKING:
        events: RelatedManager[Event]
        participants: RelatedManager[Participant]

    class Meta:
        base_manager_name = "objects"
        indexes = [
            models.Index(models.F("active").desc(), models.F("declared_at").desc(), name="incident_list"),
            models.Index(
                "type", models.F("active").desc(), models.F("declared_at").desc(), name="incident_list_by_type"
            ),
            models.Index(
                models.F("active").desc(),
                models.F("declared_at").desc(),
                condition=models.Q(is_drill=True),
                name="incident_drills",
            ),
            models.Index(
                fields=["update_due_at"], condition=models.Q(update_due_at__isnull=False), name="incident_due"
            ),
            models.Index(fields=["ended_at"], condition=models.Q(private=True), name="incident_private_ended"),
            models.Index(
                models.F("ended_at").desc(),
                condition=models.Q(status=Status.RESOLVED, is_drill=False),
                name="incident_resolved",
            ),
            GinIndex(fields=["services"], name="incident_services"),
            GinIndex(fields=["words"], name="incident_words"),
        ]

    def __str__(self) -> str:
        return self.codename

    def get_absolute_url(self) -> str:
        return page_routes.path_of(page_routes.INCIDENT, codename=self.codename)

    @property
    def policy(self) -> Policy:
        """The policy that this incident's type had when the incident took it."""
        return self.policy_version.policy

    @property
    def is_active(self) -> bool:
        """Whether the incident is still being responded to."""
        return Status(self.status).is_active

    def is_overdue(self, *, at: datetime) -> bool:
        """Return whether a status update is expected and late."""
        waited_for = self.is_active and self.policy.update_every_min is not None
        return waited_for and (self.update_due_at is None or self.update_due_at <= at)

    def age_s(self, *, at: datetime) -> float:
        """Seconds from its declaration to its end, or to ``at`` if it has not ended."""
        return ((self.ended_at or at) - self.declared_at).total_seconds()

    def role_holder_id(self, role: str) -> int | None:
        """The id of the person with a role, including the lead; None if no one has it."""
        if role.casefold() == "lead":
            return self.lead_id
        roles: dict[str, Any] = self.roles
        return roles.get(role)


class Codename(models.Model):
    """A name that was given to a room. Never deleted, so that no name is used twice."""

    name = models.CharField(max_length=80, primary_key=True)
    incident = models.ForeignKey(Incident, null=True, on_delete=models.SET_NULL, related_name="codenames")
    room = models.PositiveSmallIntegerField(default=1)
    private = models.BooleanField(default=False)

    def __str__(self) -> str:
        return self.name


class Participant(models.Model):
    """A person's participation in an incident, and how it began. Current participants can see a private incident.

    ``reason`` is why they came, which may no longer hold: why they are in now is computed from the facts by
    ``workflows.planning.participation``, and nowhere else. ``by`` let them in; None means the type's policy, or
    themselves.
    """

    class Reason(models.TextChoices):
        DECLARED = "declared", "declared it"
        LEAD = "lead", "leads"
        ROLE = "role", "holds a role"
        GROUP = "group", "in a group the type brings in"
        ONE_OF = "one-of", "chosen as the one of a group"
        PICKED = "picked", "brought in"
        JOINED = "joined", "joined the channel"
        PAGED = "paged", "paged"
        GLASS = "glass", "broke glass"
        RETYPED = "retyped", "retyped it"
        LET_IN = "let-in", "let in"

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="participants", db_index=False)
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="takes_part")
    reason = models.CharField(max_length=10, choices=Reason.choices)
    detail = models.CharField(max_length=120, blank=True)  # the group's handle or the role
    by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")
    since_at = models.DateTimeField()
    left_at = models.DateTimeField(null=True)
    went = models.BooleanField(default=False)  # left or was removed by hand: workflows do not undo that

    class Meta:
        constraints = [models.UniqueConstraint(fields=["incident", "person"], name="takes_part_once")]
        indexes = [
            models.Index(fields=["person", "incident"], condition=models.Q(left_at=None), name="still_in"),
            models.Index(Upper("detail"), condition=models.Q(reason="group"), name="came_by_group"),
        ]

    def __str__(self) -> str:
        return f"{self.person_id} in {self.incident_id}"
