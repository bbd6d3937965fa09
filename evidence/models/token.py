from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models

from incidents.models import Incident, Person


class Scope(models.TextChoices):
    """What a token may be used for."""

    EVIDENCE_WRITE = "evidence:write", "Add evidence, and read it"
    INCIDENTS_READ = "incidents:read", "Read incidents and their timelines"


def evidence_alone() -> list[str]:
    """Return the scopes of a token for which nothing else was requested."""
    return [Scope.EVIDENCE_WRITE.value]


class Token(models.Model):
    """Lets its holder do what its scopes say, as ``person``; only a hash is stored.

    ``incident`` limits it to one incident. It never sees more than its person may see at that moment.
    """

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="tokens")
    incident = models.ForeignKey(Incident, null=True, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=80, blank=True)
    scopes = ArrayField(models.CharField(max_length=20, choices=Scope.choices), default=evidence_alone)
    hash = models.CharField(max_length=64, unique=True)  # SHA-256, in hex, of a random 256-bit secret
    hint = models.CharField(max_length=8, blank=True)  # its last characters, to distinguish tokens
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    objects: ClassVar[models.Manager[Token]]

    def __str__(self) -> str:
        return f"…{self.hint}"

    @property
    def says(self) -> str:
        """What it may be used for, in words."""
        return "; ".join(Scope(one).label.lower() for one in self.scopes)
