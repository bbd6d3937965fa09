from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from incidents.models import Person


class GroupRule(models.Model):
    """Who belongs in a user group: those on call for its ``sources``, and ``permanent`` people.

    A source is ``{"subject": "P1", "level": 0}``: a schedule with level 0, or one level of an escalation policy.
    ``says`` is its state in one sentence, ``members`` the chat ids that were last written or found there. ``look_at``
    is the next handover, as far as known. The process that writes the group holds ``claimed_until``, and ``begun`` is
    what it writes until the outcome is recorded: ``members``, ``joined``, ``left`` and ``says``. Its ``late`` are
    earlier changes that Slack may still carry out. ``chat_id`` is the group's id: a group with the same handle in
    another workspace is someone else's.
    """

    class State(models.TextChoices):
        NEW = "new", "not looked at yet"
        TRUE = "true", "in step"
        WAITING = "waiting", "waiting"
        FAILED = "failed", "not possible"

    handle = models.CharField(max_length=100, unique=True)
    chat_id = models.CharField(max_length=64, blank=True, default="", db_default="")
    sources = models.JSONField(default=list)
    permanent = models.ManyToManyField(Person, related_name="+", blank=True)
    active = models.BooleanField(default=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.NEW)
    says = models.TextField(blank=True)
    members = ArrayField(models.CharField(max_length=64), default=list)
    edited_at = models.DateTimeField(null=True)  # when a person last edited the rule
    checked_at = models.DateTimeField(null=True)
    look_at = models.DateTimeField(null=True)
    changed_at = models.DateTimeField(null=True)
    try_again_at = models.DateTimeField(null=True)
    claimed_until = models.DateTimeField(null=True)
    begun = models.JSONField(null=True)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["handle"]

    def __str__(self) -> str:
        return f"@{self.handle}"


class GroupChange(models.Model):
    """One change of a group's members, made or attempted; never modified."""

    rule = models.ForeignKey(GroupRule, on_delete=models.CASCADE, related_name="changes")
    at = models.DateTimeField()
    joined = ArrayField(models.CharField(max_length=64), default=list)  # chat ids
    left = ArrayField(models.CharField(max_length=64), default=list)
    says = models.TextField()
    error_code = models.CharField(max_length=80, blank=True)

    class Meta:
        ordering = ["-at", "-pk"]

    def __str__(self) -> str:
        return f"{self.rule_id} at {self.at}"
