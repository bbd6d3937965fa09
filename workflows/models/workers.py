from __future__ import annotations

from django.db import models


class WorkerProcess(models.Model):
    """One process that performs work, and its last heartbeat.

    ``alone_since`` is set while it cannot reach the broker and therefore finds all of its work itself.
    """

    name = models.CharField(max_length=300, unique=True)
    kind = models.CharField(max_length=20)
    seen_at = models.DateTimeField()
    alone_since = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.name} at {self.seen_at}"


class SharedLook(models.Model):
    """A look that one process takes for all: the task, and when the next one is due by the database's clock."""

    task = models.CharField(max_length=200, unique=True)
    due_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.task} at {self.due_at}"


class WorkersGone(models.Model):
    """A period without any worker, which leads are told about; ``since`` is when the last one was seen."""

    since = models.DateTimeField(unique=True)

    def __str__(self) -> str:
        return f"since {self.since}"
