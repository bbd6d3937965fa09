from __future__ import annotations

from django.db import models

from incidents.models import Person


class PagerUser(models.Model):
    """A user of the pager; matched to a person once by email, then pinned by id.

    ``matched`` says how: by ``email``, by ``hand``, or not at all. A user whose match was removed by hand is not
    matched by email again. The pager does not notify a ``silent`` user of urgent pages, because no rule tells it to.
    """

    class Matched(models.TextChoices):
        NOT = "", "not matched"
        EMAIL = "email", "by email"
        HAND = "hand", "by hand"
        PARTED = "parted", "unlinked by hand"

    pager_id = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=200)
    email = models.CharField(max_length=254, blank=True)
    url = models.URLField(max_length=500, blank=True)
    person = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="on_pager")
    matched = models.CharField(max_length=10, choices=Matched.choices, default=Matched.NOT, blank=True)
    matched_at = models.DateTimeField(null=True)
    matched_by = models.ForeignKey(Person, null=True, on_delete=models.SET_NULL, related_name="+")
    gone = models.BooleanField(default=False)
    silent = models.BooleanField(default=False, db_default=False)

    class Meta:
        ordering = ["name", "pager_id"]

    def __str__(self) -> str:
        return f"{self.name} ({self.pager_id})"


class PagerTarget(models.Model):
    """Something the pager can be asked about: an escalation policy, a service or a schedule.

    ``service_id`` is where a page to it is opened, ``policy_id`` is the policy that this pages; ``levels`` counts a
    policy's levels, and ``schedules`` holds the pager's ids of the schedules that each level pages. Rows are never
    deleted: a target that is ``gone`` from the pager keeps its name for past pages. A ``paused`` service is in a
    maintenance window.
    """

    class Kind(models.TextChoices):
        POLICY = "policy", "escalation policy"
        SERVICE = "service", "service"
        SCHEDULE = "schedule", "schedule"

    pager_id = models.CharField(max_length=64, unique=True)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    name = models.CharField(max_length=200)
    url = models.URLField(max_length=500, blank=True)
    policy_id = models.CharField(max_length=64, blank=True)
    service_id = models.CharField(max_length=64, blank=True)
    levels = models.PositiveSmallIntegerField(default=0)
    schedules = models.JSONField(default=list, db_default=[], blank=True)
    gone = models.BooleanField(default=False)
    paused = models.BooleanField(default=False, db_default=False)
    overrides_at = models.DateTimeField(null=True)  # of a schedule: when its overrides were last read

    class Meta:
        ordering = ["kind", "name", "pager_id"]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class Shift(models.Model):
    """Someone's turn on call for a schedule (level 0), or for one level of an escalation policy (from 1).

    As the pager reports it, with overrides applied. No ``start_at`` means since always, no ``end_at`` means forever.
    """

    subject = models.CharField(max_length=64)  # the pager's id of the schedule or policy
    level = models.PositiveSmallIntegerField(default=0)
    user = models.CharField(max_length=64)  # the pager's id of the person
    start_at = models.DateTimeField(null=True)
    end_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["subject", "level"], name="shift_of_subject")]

    def __str__(self) -> str:
        return f"{self.user} for {self.subject}/{self.level}"


class ShiftOverride(models.Model):
    """One turn on a schedule that is an override, as the pager reports it; the person's other turns need not be."""

    schedule = models.CharField(max_length=64)  # the pager's id
    user = models.CharField(max_length=64)  # the pager's id of the person
    start_at = models.DateTimeField(null=True)
    end_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.user} over {self.schedule}"


class PagerRead(models.Model):
    """When the pager's people, targets and shifts were last read, and what went wrong since; at most one row.

    ``failed_at`` is when what is ``failing`` first did, ``says`` is the latest error, ``ask_at`` is when the pager is
    asked again for it. The process that is reading holds ``reading_until``. ``connection`` identifies the settings with
    which people and targets were read.
    """

    class What(models.TextChoices):
        NOTHING = "", "nothing"
        DIRECTORY = "directory", "people and targets"
        SHIFTS = "shifts", "who is on call"
        EVERYTHING = "all", "everything"

    directory_at = models.DateTimeField(null=True)
    shifts_at = models.DateTimeField(null=True)
    shifts_until = models.DateTimeField(null=True)
    failed_at = models.DateTimeField(null=True)
    failing = models.CharField(max_length=10, choices=What.choices, default=What.NOTHING, blank=True)
    says = models.TextField(blank=True)
    ask_at = models.DateTimeField(null=True)
    reading_until = models.DateTimeField(null=True)
    connection = models.CharField(max_length=32, blank=True, default="", db_default="")

    def __str__(self) -> str:
        return f"shifts read at {self.shifts_at}"
