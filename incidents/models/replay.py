from __future__ import annotations

from django.db import models

from incidents.models.incident import Incident


class Replay(models.Model):
    """The progress of a drill that replays an incident: ``shown`` steps, the last of them at ``shown_at``.

    Entries up to ``until_n`` are played; the next one is due at ``due_at``. ``why`` is the reason if it was stopped
    early.
    """

    incident = models.OneToOneField(Incident, primary_key=True, on_delete=models.CASCADE, related_name="replay")
    until_n = models.PositiveIntegerField()
    speed = models.PositiveSmallIntegerField()
    silence_s = models.PositiveIntegerField()
    thinking_s = models.PositiveIntegerField()
    shown = models.PositiveIntegerField(default=0)
    shown_at = models.DateTimeField()
    due_at = models.DateTimeField(null=True)  # None once it is over
    over_at = models.DateTimeField(null=True)
    why = models.CharField(max_length=200, blank=True)

    class Meta:
        indexes = [models.Index(fields=["due_at"], condition=models.Q(due_at__isnull=False), name="replay_due")]

    def __str__(self) -> str:
        return f"{self.incident_id}: {self.shown}"

    @property
    def past_id(self) -> int:
        """The key of the incident being replayed."""
        past = self.incident.replays_id
        assert past is not None, "its drill was declared as the replay of one"
        return past
