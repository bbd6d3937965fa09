from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from incidents.models import Incident, Person


class Page(models.Model):
    """One of our pages and its status in the pager. Written before the pager is called, so that none is lost.

    ``key`` is the key of its effect's thing (``page/policy/P1``); ``dedup_key`` is the opaque name by which the pager
    knows it and by which it is found again. ``status_at`` is when it took this status, by the pager's clock: earlier
    news is recorded, but changes nothing. ``rung`` are the people who were on call when it was opened; ``rings`` says
    in words who that was, including strangers. ``ack_asked_by`` last asked us to acknowledge it in their name;
    ``ack_turn`` counts such requests, each of which is carried out once. ``elsewhere`` says that it is in an account
    that is no longer connected: it stays as it is there.
    """

    class Status(models.TextChoices):
        OPENING = "opening", "being opened"
        TRIGGERED = "triggered", "paging"
        ACKNOWLEDGED = "acknowledged", "acknowledged"
        RESOLVED = "resolved", "resolved"

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="pages", db_index=False)
    key = models.CharField(max_length=120)
    target = models.CharField(max_length=80)  # "policy/P1", "service/P2", "user/P3"
    name = models.CharField(max_length=200)
    dedup_key = models.CharField(max_length=80, unique=True)
    service_id = models.CharField(max_length=64, blank=True)
    pager_id = models.CharField(max_length=64, blank=True)
    number = models.PositiveIntegerField(null=True)
    url = models.URLField(max_length=500, blank=True)
    via = models.CharField(max_length=10, default="rest")  # or "events", the fallback
    joined = models.CharField(max_length=200, blank=True)  # the open incident of others that it was merged into
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.OPENING)
    status_at = models.DateTimeField()
    status_by = models.CharField(max_length=200, blank=True)
    opened_at = models.DateTimeField()
    looked_at = models.DateTimeField(null=True)
    answered_at = models.DateTimeField(null=True)
    answered_by = models.CharField(max_length=200, blank=True)
    withdrawn_at = models.DateTimeField(null=True)
    rung = models.ManyToManyField(Person, related_name="+")
    rings = models.TextField(blank=True)
    rung_ids = ArrayField(models.CharField(max_length=64), default=list)
    now_ids = ArrayField(models.CharField(max_length=64), default=list)
    rung_at = models.DateTimeField(null=True)
    because = models.TextField(blank=True)
    asked_by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")
    ack_asked_by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")
    ack_asked_at = models.DateTimeField(null=True)
    doubted_at = models.DateTimeField(null=True)  # when a second page may last have been opened
    ack_turn = models.PositiveIntegerField(default=0, db_default=0)
    unseen_at = models.DateTimeField(null=True)  # when a page that was sent as an event was not found in the pager
    news = ArrayField(models.CharField(max_length=120), default=list)  # ids of the news about it
    elsewhere = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["incident", "key"], name="page_key_once")]
        indexes = [
            models.Index(fields=["pager_id"], condition=~models.Q(pager_id=""), name="page_by_pager_id"),
            models.Index(fields=["opened_at"], condition=models.Q(pager_id=""), name="page_without_id"),
            models.Index(fields=["doubted_at"], condition=~models.Q(doubted_at=None), name="page_doubted"),
            models.Index(fields=["withdrawn_at"], condition=~models.Q(withdrawn_at=None), name="page_withdrawn"),
            models.Index(
                fields=["status_at"], condition=models.Q(status="resolved") & ~models.Q(pager_id=""), name="page_ended"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.incident_id} {self.key} {self.status}"

    @property
    def was_called_off(self) -> bool:
        """Whether it was no longer wanted before the pager had opened it."""
        ended = self.status == self.Status.RESOLVED and self.withdrawn_at is not None
        return ended and not self.pager_id and self.via == "rest"

    @property
    def is_unseen(self) -> bool:
        """Whether it was sent, but the pager does not show it."""
        return self.unseen_at is not None and self.status == self.Status.TRIGGERED and not self.pager_id

    @property
    def is_open(self) -> bool:
        """Whether it may still page someone, or someone is on it."""
        return self.status != self.Status.RESOLVED
