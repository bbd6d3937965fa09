from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models


class Session(AbstractBaseSession):
    """A browser's session with its owner in a column, so that it can be listed, and ended from another browser."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+")
    began_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(null=True)
    browser = models.CharField(max_length=80, blank=True)
    place = models.CharField(max_length=45, blank=True)

    @classmethod
    def get_session_store_class(cls) -> Any:
        """Return the store that keeps its sessions here."""
        from integrations.identity.sessions import SessionStore

        return SessionStore


class Tries(models.Model):
    """How often something was tried since its count began. Over the limit, further tries are refused until `until`."""

    key = models.CharField(max_length=64, primary_key=True)
    count = models.PositiveIntegerField(default=0)
    until = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.count} until {self.until:%H:%M:%S}"
