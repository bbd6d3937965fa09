from __future__ import annotations

from django.db import models


class WorkerProcess(models.Model):
    """One process that carries things out, and when it last said that it lives.

    ``alone_since`` is set while the broker does not answer it, so that it finds all of its work itself.
    """

    name = models.CharField(max_length=300, unique=True)
    kind = models.CharField(max_length=20)
    seen_at = models.DateTimeField()
    alone_since = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.name} at {self.seen_at}"


class SharedLook(models.Model):
    """A regular look that one process takes for all: the task, and when the next one is due by the database's clock."""

    task = models.CharField(max_length=200, unique=True)
    due_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.task} at {self.due_at}"


class WorkersGone(models.Model):
    """A time in which no worker lived, told to those who lead; ``since`` is when the last one was seen."""

    since = models.DateTimeField(unique=True)

    def __str__(self) -> str:
        return f"since {self.since}"
