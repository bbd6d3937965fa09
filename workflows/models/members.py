from __future__ import annotations

from django.db import models

from workflows.models.effects import Resource


class MembersRead(models.Model):
    """When we last asked who is in a channel."""

    channel = models.OneToOneField(Resource, on_delete=models.CASCADE, related_name="members_read")
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.channel_id} at {self.at}"


class ChannelTurn(models.Model):
    """Which channel had its turn last, of all that are looked at in case an event was lost; one row at most."""

    channel = models.BigIntegerField()  # the resource's id, which may be gone by now

    def __str__(self) -> str:
        return f"{self.channel}"


class OlderRead(models.Model):
    """Which private incident was the last one read of those that ended long ago; one row at most."""

    ended_at = models.DateTimeField()
    number = models.BigIntegerField()  # the incident's id, which may be gone by now

    def __str__(self) -> str:
        return f"{self.number}, which ended at {self.ended_at}"
