from __future__ import annotations

from django.db import models

from workflows.models.effects import Resource


class MembersRead(models.Model):
    """When we last asked who is in a channel: of a private incident, or of any after the database was put back."""

    channel = models.OneToOneField(Resource, on_delete=models.CASCADE, related_name="members_read")
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.channel_id} at {self.at}"
