from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from django.db import models

from audit.sealed import chain


class Entry(models.Model):
    """Something that someone did, saw or changed. The database refuses to change or delete it.

    Plain values and no foreign keys: nothing that happens elsewhere affects what is written here. ``n`` grows and may
    have gaps. ``key`` is for events recorded once, such as one reader of one incident in one hour.
    """

    n = models.BigAutoField(primary_key=True)
    at = models.DateTimeField()
    kind = models.CharField(max_length=24)
    by = models.BigIntegerField(null=True, db_column="by_id")  # a person's id
    by_name = models.CharField(max_length=200, blank=True)
    about = models.CharField(max_length=200, blank=True)  # a codename, or the name of anything else
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


class Redaction(models.Model):
    """A record of words that were redacted from a kept row: the row, the person, and the row's hashes before and after.

    Append-only and sealed, like the row itself: who redacted something stays readable, what it said does not.
    """

    n = models.BigAutoField(primary_key=True)
    at = models.DateTimeField()
    kept = models.CharField(max_length=24)  # the name of the table in the chain
    row = models.BigIntegerField()
    by = models.BigIntegerField(null=True, db_column="by_id")  # a person's id
    by_name = models.CharField(max_length=200, blank=True)
    was = models.CharField(max_length=64)
    remains = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kept", "row"], name="redacted_once")]

    def __str__(self) -> str:
        return f"{self.kept} {self.row}"


class Seal(models.Model):
    """A link of the chain: which rows it covers, and a hash over them and the previous link.

    ``covers`` lists the rows of each kept table as ranges of ids: ``{"entries": [[1, 40]], "events": []}``. ``marks``
    holds their hashes in that order, 32 bytes each. ``n`` counts from 1 without gaps.

    ``tops`` are the highest ids covered so far, ``horizon`` the first transaction that had not begun when they were
    read. ``settled`` is the newest link below whose tops no row can appear any more.
    """

    n = models.BigIntegerField(primary_key=True)
    at = models.DateTimeField()
    previous = models.CharField(max_length=64)
    covers = models.JSONField()
    marks = models.BinaryField()
    tops = models.JSONField()
    horizon = models.BigIntegerField()
    settled = models.BigIntegerField()
    hash = models.CharField(max_length=64, unique=True)

    def __str__(self) -> str:
        return f"{self.n} {self.hash[:12]}"

    def said(self) -> dict[str, Any]:
        """Return everything that this link's hash covers."""
        names = ("n", "at", "previous", "covers", "tops", "horizon", "settled")
        marks = [one.hex() for one in chain.marks(bytes(self.marks))]
        return {name: getattr(self, name) for name in names} | {"marks": marks}

    def marked(self, name: str) -> Iterator[tuple[int, bytes]]:
        """Yield the ids of a kept table that this link covers, each with the hash of its row at that time."""
        marks = iter(chain.marks(bytes(self.marks)))
        for table, covered in sorted(self.covers.items()):
            for id in itertools.chain.from_iterable(range(low, high + 1) for low, high in covered):
                mark = next(marks, b"")
                if table == name:
                    yield id, mark

    @property
    def rows(self) -> int:
        """How many rows' hashes it holds."""
        return len(self.marks) // chain.MARK
