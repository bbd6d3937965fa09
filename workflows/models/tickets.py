from __future__ import annotations

from django.db import models

from incidents.models import Incident


class Ticket(models.Model):
    """Which follow-up a ticket of the tracker stands for; ``key`` is the key of its resource."""

    place = models.CharField(max_length=300)
    ref = models.CharField(max_length=100)
    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="tickets")
    key = models.CharField(max_length=120)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["place", "ref"], name="ticket_once")]

    def __str__(self) -> str:
        return f"{self.incident_id} {self.key} {self.place} {self.ref}"


class TrackerRead(models.Model):
    """Up to which change a project's tickets were read, by the tracker's clock."""

    place = models.CharField(max_length=300, unique=True)
    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.place} until {self.until}"
