from __future__ import annotations

from collections.abc import Collection
from typing import Final

from django.contrib.postgres.fields import ArrayField
from django.db import models

from incidents.models import Incident

PRIVATE: Final = models.ExpressionWrapper(
    models.Q(spec__contains={"private": True}), output_field=models.BooleanField()
)
ROOMS: Final = ("channel", "outlet")  # the kinds of resources that are an incident's rooms
# Announcements are left out of both indexes: their channel may have its own settings.
REFUSED: Final = models.Q(state="failed", tried_at__isnull=False) & ~models.Q(spec__has_key="channel")
SUCCEEDED: Final = models.Q(state="done", error_code="", tried_at__isnull=False) & ~models.Q(spec__has_key="channel")


class Effect(models.Model):
    """One action that is or was owed to the outside world. This row is the truth; Celery's messages only hint at it.

    ``token`` fences: each claim takes the next number, and only its holder may record the outcome. ``attempt`` counts
    only the calls that ended in an error; ``unanswered`` counts the claims since anything was recorded, including the
    current one, so it grows while every worker that takes the effect dies of it. ``unsure`` is set once a call may have
    happened without being recorded: look before acting again. ``abandoned`` is set when the facts changed while it was
    under way: it may still come true, but is retried only once it is wanted again.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="effects", db_index=False)
    key = models.CharField(max_length=120)
    thing = models.CharField(max_length=120)
    kind = models.CharField(max_length=20)
    verb = models.CharField(max_length=10)
    spec = models.JSONField(default=dict)
    labels = models.JSONField(default=dict)
    sentence = models.TextField()
    sign = models.CharField(max_length=1)
    method = models.CharField(max_length=60)
    rank = models.PositiveSmallIntegerField()
    room = models.PositiveSmallIntegerField(null=True)
    needs = ArrayField(models.CharField(max_length=120), default=list)
    after = ArrayField(models.CharField(max_length=120), default=list)
    revision = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    unsure = models.BooleanField(default=False)
    abandoned = models.BooleanField(default=False)
    token = models.PositiveIntegerField(default=0)
    attempt = models.PositiveIntegerField(default=0)
    unanswered = models.PositiveIntegerField(default=0, db_default=0)
    due_at = models.DateTimeField()
    leased_until = models.DateTimeField(null=True)
    error = models.TextField(blank=True)
    error_code = models.CharField(max_length=80, blank=True)
    mark = models.CharField(max_length=32, blank=True, default="", db_default="")  # by which what it made is found
    alike = models.CharField(max_length=32, blank=True, default="", db_default="")  # shared by messages saying the same
    traceparent = models.CharField(max_length=55, blank=True, default="", db_default="")  # of the plan that wrote it
    created_at = models.DateTimeField()
    begun_at = models.DateTimeField(null=True)
    tried_at = models.DateTimeField(null=True)  # when the last try began; null if its response was lost at once
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["incident", "key"], name="effect_key_once")]
        indexes = [
            models.Index(fields=["due_at"], condition=models.Q(state__in=["waiting", "running"]), name="effect_open"),
            models.Index(fields=["incident", "state"], name="effect_of_incident"),
            models.Index(fields=["error_code"], condition=models.Q(state="failed"), name="effect_failed_by_code"),
            models.Index("method", PRIVATE, "error_code", "tried_at", condition=REFUSED, name="effect_refused"),
            models.Index("method", PRIVATE, "tried_at", condition=SUCCEEDED, name="effect_succeeded"),
        ]

    def __str__(self) -> str:
        return f"{self.incident_id} {self.key} {self.state}"


class Resource(models.Model):
    """Something that exists outside because of us; ``external`` holds its ids at the vendor."""

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="resources", db_index=False)
    key = models.CharField(max_length=120)
    kind = models.CharField(max_length=20)
    room = models.PositiveSmallIntegerField(null=True)
    label = models.TextField(blank=True)
    spec = models.JSONField(default=dict)
    external = models.JSONField(default=dict)
    external_id = models.CharField(max_length=120, blank=True)
    state = models.CharField(max_length=10, default="there")
    since_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["incident", "key"], name="resource_key_once")]
        indexes = [
            models.Index(fields=["external_id"], condition=models.Q(kind="channel"), name="channel_by_external_id"),
            models.Index(fields=["id"], condition=models.Q(kind="channel"), name="channel_in_turn"),
        ]

    def __str__(self) -> str:
        return f"{self.incident_id} {self.key} {self.state}"

    @classmethod
    def rooms(cls, channel_ids: Collection[str]) -> models.QuerySet[Resource]:
        """Return the rooms of incidents among these channels."""
        return cls.objects.filter(kind__in=ROOMS, external_id__in=channel_ids)


class Planned(models.Model):
    """Up to which revision an incident was planned, and when to look at it again even if it is settled."""

    incident = models.OneToOneField(Incident, on_delete=models.CASCADE, related_name="planned")
    revision = models.PositiveIntegerField()
    at = models.DateTimeField()
    look_again_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["look_again_at"], condition=models.Q(look_again_at__isnull=False), name="planned_look_again"
            )
        ]

    def __str__(self) -> str:
        return f"{self.incident_id} at {self.revision}"


class Restored(models.Model):
    """A restore of the database: what was done after ``since`` and before ``at`` is not known here."""

    since = models.DateTimeField()
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"since {self.since} until {self.at}"


class Unplanned(models.Model):
    """A revision of an incident's facts that was not planned yet. The sweep reads these instead of all incidents.

    Only triggers write it, in the transaction of the incident or the plan, so it is right whatever process writes
    those.
    """

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="+", db_index=False)
    revision = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["incident", "revision"], name="unplanned_once")]

    def __str__(self) -> str:
        return f"{self.incident_id} at {self.revision}"


class VendorErrors(models.Model):
    """How many calls for effects ended in an error, per port and code; it only grows."""

    port = models.CharField(max_length=20)
    code = models.CharField(max_length=80)
    count = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["port", "code"], name="vendor_errors_once")]

    def __str__(self) -> str:
        return f"{self.port} {self.code}: {self.count}"


class Limit(models.Model):
    """A vendor's method that no process here may call before ``blocked_until``."""

    vendor = models.CharField(max_length=20)
    method = models.CharField(max_length=60)
    blocked_until = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["vendor", "method"], name="limit_once")]

    def __str__(self) -> str:
        return f"{self.vendor} {self.method} until {self.blocked_until}"
