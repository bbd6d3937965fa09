from __future__ import annotations

from django.db import models

from incidents.models.people import Person


class SavedView(models.Model):
    """A filtered list that someone saved under a name, as the query string of its address."""

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="saved_views", db_index=False)
    name = models.CharField(max_length=40)
    query = models.TextField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "name"], name="saved_once")]

    def __str__(self) -> str:
        return self.name
