from __future__ import annotations

from django.db import models


class Delivery(models.Model):
    """Something that Slack sent and that was acted on. Kept for some days so that nothing is done twice.

    ``words`` holds a command that waits until its author has picked an incident for it; nothing else is kept.
    """

    key = models.CharField(max_length=200, unique=True)
    received_at = models.DateTimeField()
    words = models.TextField(blank=True)

    class Meta:
        verbose_name_plural = "deliveries"
        indexes = [models.Index(fields=["received_at"], name="delivery_by_age")]

    def __str__(self) -> str:
        return self.key
