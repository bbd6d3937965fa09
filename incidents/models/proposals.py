from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, ClassVar

from django.db import models

from incidents.models import page_routes
from incidents.models.incident import Incident
from incidents.models.people import Person


def ref() -> str:
    """Return a random name, which reveals neither how many proposals there are nor their order."""
    return secrets.token_hex(8)


class Proposal(models.Model):
    """A manager's change that waits for a second manager to confirm it.

    ``kind`` and ``payload`` define the change; ``about`` and ``says`` describe in words what changes and to what.
    ``incident`` is the private incident it concerns, if any: only its participants may know of it.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        CONFIRMED = "confirmed", "confirmed"
        TURNED_DOWN = "turned-down", "turned down"
        WITHDRAWN = "withdrawn", "withdrawn"

    ref = models.CharField(max_length=16, unique=True, default=ref)
    kind = models.CharField(max_length=20)
    payload = models.JSONField(default=dict)
    about = models.CharField(max_length=200)
    says = models.TextField()
    incident = models.ForeignKey(Incident, null=True, on_delete=models.CASCADE, related_name="+")
    by = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField()
    state = models.CharField(max_length=12, choices=State.choices, default=State.WAITING)
    decided_by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")
    decided_at = models.DateTimeField(null=True)

    objects: ClassVar[models.Manager[Proposal]]
    if TYPE_CHECKING:
        by_id: int

    class Meta:
        ordering = ["-at", "-pk"]
        indexes = [models.Index(fields=["at"], condition=models.Q(state="waiting"), name="proposal_waiting")]

    def __str__(self) -> str:
        return f"{self.kind} {self.ref} {self.state}"

    def get_absolute_url(self) -> str:
        return page_routes.path_of(page_routes.PROPOSAL, ref=self.ref)

    @property
    def is_waiting(self) -> bool:
        """Whether no one has decided yet."""
        return self.state == self.State.WAITING


class Notice(models.Model):
    """A message to the people in some private incidents: written with the change, delivered seconds later.

    ``to`` selects them: ``type/security``, ``group/support``, ``incident/12``, or empty for all open ones.
    """

    to = models.CharField(max_length=120, blank=True)
    says = models.TextField()
    at = models.DateTimeField()

    objects: ClassVar[models.Manager[Notice]]

    def __str__(self) -> str:
        return f"to {self.to or 'all'} at {self.at}"
