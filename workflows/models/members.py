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
    """Which channel was polled last, of all that are polled in case an event was lost; at most one row."""

    channel = models.BigIntegerField()  # the resource's id; it may be gone by now

    def __str__(self) -> str:
        return f"{self.channel}"


class OlderRead(models.Model):
    """Which private incident was read last, of those that ended long ago; at most one row."""

    ended_at = models.DateTimeField()
    number = models.BigIntegerField()  # the incident's id; it may be gone by now

    def __str__(self) -> str:
        return f"{self.number}, which ended at {self.ended_at}"
