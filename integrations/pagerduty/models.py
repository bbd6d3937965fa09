from __future__ import annotations

from django.db import models


class Webhook(models.Model):
    """One webhook of PagerDuty's, kept before it is answered and acted on afterwards.

    ``key`` is its ``X-Webhook-Id`` and ``event_id`` the event it tells of: each is acted on once, for good, because
    PagerDuty signs no time and a webhook may be replayed at any time. The body is dropped once it was acted on.
    ``attempt`` counts the tries that ended in an error.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        DONE = "done"
        FAILED = "failed"

    key = models.CharField(max_length=200, unique=True)
    event_id = models.CharField(max_length=100, blank=True)
    page_id = models.CharField(max_length=64, blank=True)  # PagerDuty's id of the incident it is about
    kind = models.CharField(max_length=80, blank=True)
    at = models.DateTimeField(null=True)  # when it happened there
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
    """Which service a routing key's events open pages on, as PagerDuty last told.

    Kept, because it is needed when PagerDuty cannot be asked: only there is a page that may have been opened already
    recognised by its key when it is sent a second way. The routing key itself is not kept, a digest names it.
    """

    digest = models.CharField(max_length=64, unique=True)
    service_id = models.CharField(max_length=64)

    def __str__(self) -> str:
        return f"route to {self.service_id}"
