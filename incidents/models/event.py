from __future__ import annotations

from django.db import models

from incidents import numbered
from incidents.models.incident import Incident
from incidents.models.people import Person


class Source(models.TextChoices):
    SLACK = "slack", "Slack"
    WEB = "web", "the web"
    API = "api", "the API"
    TERMINAL = "terminal", "a terminal"
    SYSTEM = "system", "Firekind"
    SAMPLE = "sample", "sample data"


class Event(models.Model):
    """One entry of an incident's timeline. The database refuses to change or delete it, except to redact its words.

    ``n`` counts from 1 without gaps. ``at`` is when it happened, ``recorded_at`` when it was recorded. ``about_n``
    names the entry that this one edits, retracts or redacts. Words can be redacted for good: `audit` documents how that
    is sealed.
    """

    # No index of its own: those below start with the incident.
    incident = models.ForeignKey(Incident, on_delete=models.PROTECT, related_name="events", db_index=False)
    n = models.PositiveIntegerField()
    kind = models.CharField(max_length=24)
    at = models.DateTimeField()
    recorded_at = models.DateTimeField()
    by = models.ForeignKey(Person, null=True, on_delete=models.PROTECT, related_name="+")
    source = models.CharField(max_length=10, choices=Source.choices)
    text = models.TextField(blank=True)
    data = models.JSONField(default=dict, blank=True)
    link = models.URLField(max_length=500, blank=True)
    about_n = models.PositiveIntegerField(null=True)
    salt = models.CharField(max_length=32, null=True)  # for the hash of its words
    redacted = models.CharField(max_length=65, null=True)  # the hash of its words, once they were redacted

    class Meta:
        constraints = [models.UniqueConstraint(fields=["incident", "n"], name="event_numbered_once")]
        indexes = [
            # Includes who wrote it, so that this index alone tells who was first.
            models.Index(fields=["incident", "at", "n"], include=["by"], name="event_in_time_by"),
            models.Index(fields=["incident", "kind", "n"], name="event_of_kind"),
            models.Index(fields=["incident", "about_n"], condition=models.Q(about_n__isnull=False), name="event_about"),
            # Sample data is rare: figures exclude it without reading the first event of each incident.
            models.Index(fields=["incident"], condition=models.Q(n=1, source="sample"), name="event_sample"),
        ]

    def __str__(self) -> str:
        return f"{self.incident_id}#{self.n} {self.kind}"

    @property
    def borne(self) -> str:
        """Its number as buttons, links and forms carry it."""
        return numbered.written(self.n, self.at)
