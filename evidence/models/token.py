from __future__ import annotations

from typing import ClassVar

from django.db import models

from incidents.models import Incident, Person


class Token(models.Model):
    """Lets whoever holds it add evidence as ``person``; only a hash is kept.

    ``incident`` narrows it to one incident. It never sees more than its person may see at that moment.
    """

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="tokens")
    incident = models.ForeignKey(Incident, null=True, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=80, blank=True)
    hash = models.CharField(max_length=64, unique=True)  # SHA-256, in hex, of a random secret of 256 bits
    hint = models.CharField(max_length=8, blank=True)  # its last characters, to tell tokens apart
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    objects: ClassVar[models.Manager[Token]]

    def __str__(self) -> str:
        return f"…{self.hint}"
