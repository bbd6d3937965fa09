from __future__ import annotations

from django.db import models

from incidents.models import Person


class WeeklyReminder(models.Model):
    """One week's message to someone with overdue follow-ups; written before it is sent, so it is sent once.

    ``told_at`` is null while it is being sent, and forever if no one knows whether it arrived.
    """

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+", db_index=False)
    week = models.DateField()  # its Monday
    begun_at = models.DateTimeField()
    told_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "week"], name="reminded_once_a_week")]

    def __str__(self) -> str:
        return f"{self.person_id} in the week of {self.week}"
