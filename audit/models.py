from __future__ import annotations

from django.db import models


class Entry(models.Model):
    """Something that somebody did, saw or changed. The database refuses to change or delete it.

    Plain values and no foreign keys: nothing that happens elsewhere reaches what is written here. ``n`` grows and may
    have gaps. ``key`` is for what is noted once, such as one reader of one incident in one hour.
    """

    n = models.BigAutoField(primary_key=True)
    at = models.DateTimeField()
    kind = models.CharField(max_length=24)
    by = models.BigIntegerField(null=True, db_column="by_id")  # a person's id
    by_name = models.CharField(max_length=200, blank=True)
    about = models.CharField(max_length=200, blank=True)  # a codename, or what else it was about
    door = models.CharField(max_length=10)
    address = models.CharField(max_length=64, blank=True)
    data = models.JSONField(default=dict)
    key = models.CharField(max_length=120, null=True, unique=True)

    class Meta:
        indexes = [
            models.Index(fields=["by", "n"], name="entry_by"),
            models.Index(fields=["kind", "n"], name="entry_of_kind"),
            models.Index(fields=["about", "n"], name="entry_about"),
            models.Index(fields=["at"], name="entry_in_time"),
        ]

    def __str__(self) -> str:
        return f"{self.n} {self.kind}"


class Seal(models.Model):
    """A link of the chain: which rows it covers, and a hash over them and over the link before.

    ``covers`` names the rows of each kept table by ranges of their ids: ``{"entries": [[1, 40]], "events": []}``.
    ``marks`` holds their hashes in that order, 32 bytes each. ``n`` counts from 1 without gaps. ``horizon`` is the
    transaction that had not begun yet when it was made.
    """

    n = models.BigIntegerField(primary_key=True)
    at = models.DateTimeField()
    previous = models.CharField(max_length=64)
    covers = models.JSONField()
    rows = models.PositiveIntegerField()
    marks = models.BinaryField()
    horizon = models.BigIntegerField()
    hash = models.CharField(max_length=64, unique=True)

    def __str__(self) -> str:
        return f"{self.n} {self.hash[:12]}"
