from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, ClassVar

from django.db import models

from incidents import numbered
from incidents.models.incident import Incident
from incidents.models.people import Person


class Followup(models.Model):
    """Something to be done for an incident: while people respond, or afterwards.

    The row is the fold of its events (`incidents.followups.folding`), written in their transaction only by
    ``incidents.lifecycle``. ``n`` numbers those of one incident; ``entry_n`` is the event that created it. ``ticket``
    names its ticket in an issue tracker, if there is one.
    """

    class Phase(models.TextChoices):
        DURING = "during", "during the incident"
        AFTERWARDS = "afterwards", "afterwards"

    class State(models.TextChoices):
        OPEN = "open", "open"
        DONE = "done", "done"
        DROPPED = "dropped", "dropped"

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="followups", db_index=False)
    n = models.PositiveIntegerField()
    entry_n = models.PositiveIntegerField()
    text = models.TextField(blank=True)
    link = models.URLField(max_length=500, blank=True)
    phase = models.CharField(max_length=10, choices=Phase.choices)
    state = models.CharField(max_length=7, choices=State.choices, default=State.OPEN)
    owner = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="followups")
    due_on = models.DateField(null=True)
    by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")
    ticket = models.CharField(max_length=300, blank=True, db_default="")
    ticket_url = models.URLField(max_length=500, blank=True, db_default="")
    made_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    objects: ClassVar[models.Manager[Followup]]
    if TYPE_CHECKING:
        owner_id: int | None
        by_id: int | None

    class Meta:
        constraints = [models.UniqueConstraint(fields=["incident", "n"], name="followup_numbered_once")]
        indexes = [
            models.Index(fields=["owner", "due_on"], condition=models.Q(state="open"), name="followup_owed"),
            models.Index(fields=["due_on"], condition=models.Q(state="open"), name="followup_due"),
        ]

    def __str__(self) -> str:
        return f"{self.incident_id}#{self.n} {self.state}"

    @property
    def borne(self) -> str:
        """Its number as buttons, links and forms carry it."""
        return numbered.written(self.n, self.made_at)

    @property
    def is_open(self) -> bool:
        """Whether it is still to be done."""
        return self.state == self.State.OPEN

    @property
    def is_task(self) -> bool:
        """Whether it is to be done while people respond; tasks left open when an incident ends become follow-ups."""
        return self.phase == self.Phase.DURING and (self.incident.is_active or not self.is_open)

    @property
    def word(self) -> str:
        """What it is called: a task or a follow-up."""
        return "task" if self.is_task else "follow-up"

    @property
    def says(self) -> str:
        """Its text, or that it was redacted."""
        return self.text or "(redacted)"

    def is_late(self, *, today: date) -> bool:
        """Whether its due date has passed."""
        return self.is_open and self.due_on is not None and self.due_on < today
