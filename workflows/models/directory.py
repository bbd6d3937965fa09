from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models


class Group(models.Model):
    """A user group as the workspace had it when last read; its members are added to its ``channels``."""

    handle = models.CharField(max_length=100, unique=True)
    chat_id = models.CharField(max_length=64)
    name = models.CharField(max_length=200)
    members = ArrayField(models.CharField(max_length=64), default=list)
    channels = ArrayField(models.CharField(max_length=64), default=list)

    def __str__(self) -> str:
        return f"@{self.handle}"


class DirectoryRead(models.Model):
    """When the workspace's people and groups were last read; at most one row.

    ``workspace`` is the id of the connected workspace, empty before the first reading. Ids of channels, messages and
    people belong to it. ``disabled`` are the handles of its disabled groups; ``groupless`` says that it can have no
    groups.
    """

    groups_at = models.DateTimeField()
    people_at = models.DateTimeField()
    stale = models.BooleanField(default=False)
    disabled = models.JSONField(default=list, db_default=[], blank=True)
    groupless = models.BooleanField(default=False, db_default=False)
    workspace = models.CharField(max_length=32, blank=True, default="", db_default="")

    def __str__(self) -> str:
        return f"groups read at {self.groups_at}"
