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
        """Whether people still respond."""
        return self in ACTIVE


ACTIVE = (Status.OPEN, Status.MITIGATED)


class IncidentManager(models.Manager["Incident"]):
    """Reads incidents without their words, which the search alone needs: they grow with the timeline."""

    def get_queryset(self) -> models.QuerySet[Incident]:
        """Return all incidents; a join that brings one along leaves its words out by itself."""
        return super().get_queryset().defer("words")


class Incident(models.Model):
    """The case. Written by ``incidents.lifecycle`` alone.

    ``private`` never goes back to false. ``is_drill`` says that it is practice, from its first moment on; ``replays``
    what happens again in it. ``room`` numbers the place where people talk: moving to a private successor adds one.
    ``revision`` grows with every fact that workflows plan from; ``last_n`` numbers events.
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
    closed_at = models.DateTimeField(null=True)  # since when people come into a private one by name alone
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
        """What this incident's type asked for when it took the type."""
        return self.policy_version.policy

    @property
    def is_active(self) -> bool:
        """Whether people still respond."""
        return Status(self.status).is_active

    def is_overdue(self, *, at: datetime) -> bool:
        """Tell whether a status update is waited for and late."""
        waited_for = self.is_active and self.policy.update_every_min is not None
        return waited_for and (self.update_due_at is None or self.update_due_at <= at)

    def age_s(self, *, at: datetime) -> float:
        """Seconds from declaration to its end, or to ``at`` while it lasts."""
        return ((self.ended_at or at) - self.declared_at).total_seconds()

    def role_holder_id(self, role: str) -> int | None:
        """The person id that holds a role, the lead's among them; None when nobody does."""
        if role.casefold() == "lead":
            return self.lead_id
        roles: dict[str, Any] = self.roles
        return roles.get(role)


class Codename(models.Model):
    """A name that was ever given to a room. Never deleted, so that none is used twice."""

    name = models.CharField(max_length=80, primary_key=True)
    incident = models.ForeignKey(Incident, null=True, on_delete=models.SET_NULL, related_name="codenames")
    room = models.PositiveSmallIntegerField(default=1)
    private = models.BooleanField(default=False)

    def __str__(self) -> str:
        return self.name


class Participant(models.Model):
    """Someone who is part of an incident, and how their stay began. Those still in may see it when it is private.

    ``reason`` is why they came, which need not hold any more: why they are in now is worked out from the facts by
    ``workflows.planning.participation``, and nowhere else. ``by`` let them in; None is the type's policy, or
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
    went = models.BooleanField(default=False)  # left or was removed by hand: workflows do not fight that

    class Meta:
        constraints = [models.UniqueConstraint(fields=["incident", "person"], name="takes_part_once")]
        indexes = [
            models.Index(fields=["person", "incident"], condition=models.Q(left_at=None), name="still_in"),
            models.Index(Upper("detail"), condition=models.Q(reason="group"), name="came_by_group"),
        ]

    def __str__(self) -> str:
        return f"{self.person_id} in {self.incident_id}"
