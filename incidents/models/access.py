from __future__ import annotations

from django.db import models

from incidents import numbered
from incidents.models import page_routes
from incidents.models.incident import Incident
from incidents.models.people import Person


class Knock(models.Model):
    """A person's latest access request, for any codename: one row for each person.

    ``codename`` and ``because`` stay here until they are delivered, seconds later. Afterwards they are blank, whether
    or not there was such an incident.
    """

    person = models.OneToOneField(Person, on_delete=models.CASCADE, related_name="knock")
    at = models.DateTimeField()
    codename = models.CharField(max_length=80, blank=True)
    because = models.TextField(blank=True)

    class Meta:
        indexes = [models.Index(fields=["at"], condition=~models.Q(codename=""), name="knock_to_carry")]

    def __str__(self) -> str:
        return f"{self.person_id} at {self.at}"


class Miss(models.Model):
    """Someone tried to break glass for a codename without a private incident closed to them.

    Managers are told at ``tell_at``, which is null once they were; ``told`` holds the ids of those who know already.
    """

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+", db_index=False)
    codename = models.CharField(max_length=80, blank=True)
    at = models.DateTimeField()
    tell_at = models.DateTimeField(null=True)
    told = models.JSONField(default=list)

    class Meta:
        indexes = [
            models.Index(fields=["person", "at"], name="miss_of_person"),
            models.Index(fields=["tell_at"], condition=models.Q(tell_at__isnull=False), name="miss_to_tell"),
        ]

    def __str__(self) -> str:
        return f"{self.person_id} at {self.at}"


class AccessRequest(models.Model):
    """A decision for the people in a private incident: let someone in or not; ``n`` is its entry on the timeline.

    The person asked for access, or a ``rule`` now names them (``@security``, ``on call for Platform leadership``): once
    an incident is closed, a rule alone lets no one in. With ``role`` they would take over that role as well.
    """

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="access_requests")
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+")
    because = models.TextField()
    rule = models.CharField(max_length=200, blank=True)
    role = models.CharField(max_length=80, blank=True)
    asked_at = models.DateTimeField()
    n = models.PositiveIntegerField()
    let_in = models.BooleanField(null=True)  # None until someone answers
    answered_at = models.DateTimeField(null=True)
    answered_by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["incident", "person"], condition=models.Q(let_in=None), name="access_asked_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.person_id} to {self.incident_id}"

    @property
    def borne(self) -> str:
        """Its number as buttons and forms carry it."""
        return numbered.written(self.n, self.asked_at)


class Summary(models.Model):
    """What a private incident tells everyone: only this text, under a codename of its own.

    One person writes it, another confirms it; only then does it have a ``codename`` and is published.
    """

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="summaries", db_index=False)
    text = models.TextField()
    written_by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")
    written_at = models.DateTimeField()
    codename = models.CharField(max_length=80, blank=True)
    reviewed_by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")
    published_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["codename"], condition=~models.Q(codename=""), name="summary_by_codename"),
            models.Index(fields=["incident", "-id"], name="summary_newest"),
        ]

    def __str__(self) -> str:
        return self.codename or f"summary {self.pk}"

    def get_absolute_url(self) -> str:
        return page_routes.path_of(page_routes.SUMMARY, codename=self.codename)
