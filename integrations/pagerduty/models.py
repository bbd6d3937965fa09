from __future__ import annotations

from django.db import models


class Webhook(models.Model):
    """One PagerDuty webhook, stored before it is answered and processed afterwards.

    ``key`` is its ``X-Webhook-Id``, ``event_id`` the event that it reports. Each is processed once, ever, because
    PagerDuty's signature covers no time and a webhook may be replayed at any later time. The body is deleted once it
    has been processed. ``attempt`` counts the tries that ended in an error.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        DONE = "done"
        FAILED = "failed"

    key = models.CharField(max_length=200, unique=True)
    event_id = models.CharField(max_length=100, blank=True)
    page_id = models.CharField(max_length=64, blank=True)  # PagerDuty's id of the incident
    kind = models.CharField(max_length=80, blank=True)
    at = models.DateTimeField(null=True)  # when it happened in PagerDuty
    body = models.JSONField(null=True)
    received_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    attempt = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField()
    says = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["event_id"], condition=~models.Q(event_id=""), name="webhook_event_once")
        ]
        indexes = [models.Index(fields=["due_at"], condition=models.Q(state="waiting"), name="webhook_waiting")]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


class Route(models.Model):
    """The service on which a routing key's events open pages, as PagerDuty last reported it.

    It is stored because it is needed while PagerDuty is down: PagerDuty recognises a page that is sent a second way by
    its key only on the same service. The routing key itself is not stored, only a digest of it.
    """

    digest = models.CharField(max_length=64, unique=True)
    service_id = models.CharField(max_length=64)

    def __str__(self) -> str:
        return f"route to {self.service_id}"
