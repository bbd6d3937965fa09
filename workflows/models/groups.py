from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from incidents.models import Person


class GroupRule(models.Model):
    """Who belongs in a user group: those on call for its ``sources``, and ``permanent`` people.

    A source is ``{"subject": "P1", "level": 0}``: a schedule with level 0, or one level of an escalation policy.
    ``says`` is one sentence on how it stands, ``members`` the chat ids that were last written or found there.
    ``look_at`` is the next handover as far as it is known. ``claimed_until`` is held by the process writing the group.
    ``chat_id`` is the group's id: one of the same handle in another workspace is somebody else's.
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
    edited_at = models.DateTimeField(null=True)  # the rule, by a person
    checked_at = models.DateTimeField(null=True)
    look_at = models.DateTimeField(null=True)
    changed_at = models.DateTimeField(null=True)
    try_again_at = models.DateTimeField(null=True)
    claimed_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["handle"]

    def __str__(self) -> str:
        return f"@{self.handle}"


class GroupChange(models.Model):
    """One change of a group's members, or one that could not be made; never changed afterwards."""

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
