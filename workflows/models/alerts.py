from __future__ import annotations

from django.db import models

from incidents.models import Incident, IncidentType, Person


class DeclareRule(models.Model):
    """Which of the pager's incidents declare one here: by service, priority and title; an empty field matches any.

    ``pattern`` is searched in the title, ignoring case. Related alerts that arrive within ``window_min`` minutes after
    the last one join the incident that the first one declared.
    """

    name = models.CharField(max_length=80)
    position = models.PositiveIntegerField(default=0)
    service_id = models.CharField(max_length=64, blank=True)
    priority = models.CharField(max_length=40, blank=True)
    pattern = models.CharField(max_length=200, blank=True)
    type = models.ForeignKey(IncidentType, on_delete=models.PROTECT, related_name="+")
    window_min = models.PositiveIntegerField(default=30)
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["position", "pk"]

    def __str__(self) -> str:
        return self.name


class Alert(models.Model):
    """A pager incident that the pager opened, not us. It declared an incident here, joined one, or concerns none.

    Alerts without an ``incident`` are kept for a while, because news may arrive out of order and rules are tried on
    them. ``at`` is when the pager opened it; news from before ``status_at`` changes nothing. It was last polled at
    ``looked_at``, and last offered to the rules at ``ruled_at``, which is None if we never heard of its beginning. A
    merged alert ended by that: ``merged_into`` is the other's pager id.
    """

    incident = models.ForeignKey(Incident, null=True, on_delete=models.CASCADE, related_name="alerts", db_index=False)
    rule = models.ForeignKey(DeclareRule, null=True, on_delete=models.SET_NULL, related_name="alerts")
    pager_id = models.CharField(max_length=64, unique=True)
    number = models.PositiveIntegerField(null=True)
    title = models.CharField(max_length=500)
    service_id = models.CharField(max_length=64, blank=True)
    service = models.CharField(max_length=200, blank=True)
    priority = models.CharField(max_length=40, blank=True)
    url = models.URLField(max_length=500, blank=True)
    status = models.CharField(max_length=12, default="triggered")
    status_at = models.DateTimeField()
    status_by = models.CharField(max_length=200, blank=True)
    at = models.DateTimeField()
    joined_at = models.DateTimeField(null=True)
    looked_at = models.DateTimeField(null=True)
    merged_into = models.CharField(max_length=64, default="", db_default="")
    ruled_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["incident", "-at"], name="alert_of_incident"),
            models.Index(fields=["service_id", "-at"], name="alert_of_service"),
            models.Index(fields=["at"], condition=models.Q(incident=None), name="alert_of_none"),
        ]

    def __str__(self) -> str:
        return f"{self.pager_id} {self.status}"
